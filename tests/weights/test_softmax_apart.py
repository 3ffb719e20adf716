"""A softmax in a file of its model's directory: found, read only when asked for, checked, and kept by conversions."""

import builtins
import dataclasses
import json
import os
import pickle
import shutil

import pytest
import torch
from tests.weights.making import WORDS, make_model

import elmo
from elmo.errors import WeightsError
from elmo.lm.perplexity import text_perplexity
from elmo.lm.score import score_sentences, substitutes
from elmo.text.vocabulary import Vocabulary
from elmo.weights import softmaxfile
from elmo.weights.describe import describe_model
from elmo.weights.formats import read_model, write_model
from elmo.weights.guarded.arrayfile import read_header
from elmo.weights.guarded.tensorfile import read_tensors, write_tensors
from elmo.weights.loaded import LoadedModel
from elmo.weights.quantized import quantize
from elmo.weights.softmax import Softmax
from elmo.weights.softmaxfile import SOFTMAX, add_softmax, write_softmax
from elmo.weights.verify import verify_model

SENTENCE = ["the", "bank"]


@pytest.fixture
def whole() -> LoadedModel:
    generator = torch.Generator().manual_seed(3)
    softmax = Softmax(torch.randn(len(WORDS), 8, generator=generator), torch.randn(len(WORDS), generator=generator))
    return dataclasses.replace(make_model(), softmax=softmax, vocabulary=Vocabulary(WORDS))


@pytest.fixture(params=["int8", "int4"])
def directory(whole, tmp_path, request):
    write_model(whole, tmp_path / "model", softmax=request.param, storage="int8")
    return tmp_path / "model"


def faults(directory) -> list[str]:
    return [finding.what for finding in verify_model(directory) if not finding.ok]


def test_a_softmax_apart_gives_probabilities_as_one_within_does(whole, directory):
    model = read_model(directory)
    assert not any(name.startswith("softmax") for name in read_header(directory / "model.safetensors"))
    expected = text_perplexity(whole, [SENTENCE], device="cpu").average
    assert text_perplexity(model, [SENTENCE], device="cpu").average == pytest.approx(expected, rel=0.1)
    assert score_sentences(model, [SENTENCE], device="cpu")
    assert substitutes(model, SENTENCE, 1, count=2, device="cpu")


def test_embedding_never_opens_the_softmax(directory, monkeypatch):
    opened = []
    monkeypatch.setattr(softmaxfile, "read_header", lambda path: opened.append(path))
    monkeypatch.setattr(softmaxfile, "read_stored", lambda path, *_: opened.append(path))
    monkeypatch.setattr(softmaxfile, "file_sha256", lambda path: opened.append(path))
    for module, name in ((builtins, "open"), (os, "open")):
        real = getattr(module, name)

        def watched(path, *arguments, real=real, **options):
            if isinstance(path, str | os.PathLike) and os.fspath(path).endswith(SOFTMAX):
                opened.append(path)
            return real(path, *arguments, **options)

        monkeypatch.setattr(module, name, watched)
    embedder = elmo.load(str(directory), device="cpu")
    embedder.encode(["the far bank"])
    elmo.Elmo.from_pretrained(str(directory))
    pickle.loads(pickle.dumps(read_model(directory)))
    assert read_model(directory).replace(card="x").has_softmax
    assert not opened


def test_a_damaged_softmax_harms_no_embedding_and_is_named_when_it_is_asked_for(directory):
    file = directory / SOFTMAX
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    elmo.load(str(directory), device="cpu").encode(["the far bank"])
    model = read_model(directory)
    with pytest.raises(WeightsError, match=rf"{SOFTMAX}: sha256 is .* but config.json says"):
        _ = model.softmax
    assert any(SOFTMAX in fault for fault in faults(directory))


def test_info_and_verify_tell_of_it(directory):
    kind = describe_model(directory)["softmax"]
    assert kind.startswith(f"{SOFTMAX}, int")
    assert kind.endswith("read when asked for")
    told = [finding.what for finding in verify_model(directory)]
    assert not faults(directory)
    assert f"{SOFTMAX} was made for this biLM" in told
    assert any(what.startswith(f"sha256 of {SOFTMAX} is") for what in told)
    recorded = json.loads((directory / "config.json").read_text())["softmax"]["sha256"]
    assert any(recorded in what for what in told)


def test_a_softmax_of_another_bilm_or_other_words_fails_the_verification(whole, directory, caplog):
    config = json.loads((directory / "config.json").read_text())
    del config["softmax"]  # as where somebody has put a file there
    (directory / "config.json").write_text(json.dumps(config))
    other = dataclasses.replace(make_model(seed=5), softmax=whole.softmax, vocabulary=whole.vocabulary)
    write_softmax(other, directory / SOFTMAX)
    assert faults(directory) == [f"{SOFTMAX} was made for another biLM"]
    assert "made for another biLM" in caplog.text
    renamed = Vocabulary((*WORDS[:-1], "otherwise"))
    write_softmax(dataclasses.replace(whole, vocabulary=renamed), directory / SOFTMAX)
    with pytest.raises(WeightsError, match=r"its 7 words are not those of the model's vocabulary"):
        _ = read_model(directory).softmax


def test_a_copy_keeps_it_apart_and_belongs_to_the_copy(directory, tmp_path, caplog):
    write_model(read_model(directory), tmp_path / "copy", storage="float16")  # another biLM by its numbers
    assert not faults(tmp_path / "copy")
    assert "another biLM" not in caplog.text
    elmo.load(str(directory), device="cpu").save_pretrained(tmp_path / "saved")
    first, again = read_model(directory), read_model(tmp_path / "saved")
    assert torch.equal(again.softmax.weight, first.softmax.weight)
    write_model(first.replace(softmax=None), tmp_path / "without")
    assert not read_model(tmp_path / "without").has_softmax


def test_the_file_can_be_taken_for_itself(directory, whole, tmp_path):
    shutil.copy(directory / SOFTMAX, tmp_path / "apart.safetensors")
    bare = read_model(directory).replace(softmax=None)
    again = add_softmax(bare, tmp_path / "apart.safetensors")
    assert again.vocabulary == whole.vocabulary
    assert torch.equal(again.softmax.weight, read_model(directory).softmax.weight)


def test_in_four_bits_the_most_frequent_tenth_of_the_words_has_eight(tmp_path):
    words = Vocabulary((*WORDS, *(f"word{n}" for n in range(len(WORDS), 40))))
    softmax = Softmax(torch.randn(40, 8, generator=torch.Generator().manual_seed(3)), torch.zeros(40))
    model = make_model().replace(softmax=softmax, vocabulary=words)
    write_softmax(model, tmp_path / "x.safetensors", storage="int4")
    header = read_header(tmp_path / "x.safetensors")
    assert (header["softmax.weight"].shape, header["softmax.weight4"].shape) == ((4, 8), (36, 4))
    error = (add_softmax(make_model(), tmp_path / "x.safetensors").softmax.weight - softmax.weight).abs()
    assert error[:4].max() < 0.02 < error[4:].max() < 0.3


def test_four_bits_are_half_as_large_and_rows_of_both_kinds_go_together(whole, tmp_path):
    wide = whole.replace(softmax=None)
    file = tmp_path / "x.safetensors"
    write_softmax(whole, file, storage="int4")
    tensors = {n: t.clone() for n, t in read_tensors(file, {n: i.shape for n, i in read_header(file).items()}).items()}
    assert tensors["softmax.weight4"].numel() == whole.softmax.weight.numel() // 2
    # The first two rows in eight bits, the others in four.
    numbers, scale = map(torch.from_numpy, quantize(whole.softmax.weight[:2].numpy(), (2, 1)))
    mixed = {**tensors, "softmax.weight": numbers, "softmax.weight.scale": scale}
    mixed |= {name: tensors[name][2:].contiguous() for name in ("softmax.weight4", "softmax.weight4.scale")}
    write_tensors(file, mixed)
    read = add_softmax(wide, file).softmax.weight
    assert torch.allclose(read[:2], whole.softmax.weight[:2], atol=0.02)
    assert torch.allclose(read, whole.softmax.weight, atol=0.6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop("softmax.weight4.scale"), "weight4.scale: is not a table of scales"),
        (lambda t: t.update({"softmax.weight4.scale": torch.ones(7, 3)}), "weight4.scale: is not a table of scales"),
        (lambda t: t.update({"softmax.weight4.scale": torch.ones(6, 1)}), r"weight4.scale: found \[6, 1\]"),
        (lambda t: t.update({"softmax.weight4": torch.ones(7, 4, dtype=torch.int8)}), "other types"),
        (lambda t: t.update({"softmax.weight4": torch.ones(7, 5, dtype=torch.uint8)}), "vectors of 10"),
        (lambda t: t["softmax.weight4.scale"].fill_(float("nan")), "has NaN"),
    ],
)
def test_a_file_of_four_bits_that_does_not_fit_together_is_refused(whole, change, message, tmp_path):
    file = tmp_path / "x.safetensors"
    write_softmax(whole, file, storage="int4")
    tensors = {n: t.clone() for n, t in read_tensors(file, {n: i.shape for n, i in read_header(file).items()}).items()}
    change(tensors)
    write_tensors(file, tensors)
    with pytest.raises(WeightsError, match=message):
        add_softmax(make_model(), file)

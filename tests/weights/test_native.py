import dataclasses
import json
import os
import sys
from functools import partial

import pytest
import torch
from safetensors.torch import load_file
from tests.killing import points, run
from tests.weights.making import CONFIGS, WORDS, make_model

from elmo.errors import WeightsError
from elmo.model.characters import CharCNNConfig
from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import Vocabulary
from elmo.weights.loaded import LoadedModel
from elmo.weights.native import FORMAT_VERSION, read_native, stored_as, write_native
from elmo.weights.selftest import run_self_test, self_test_difference
from elmo.weights.softmax import Softmax


@pytest.mark.parametrize("name", CONFIGS)
def test_what_is_read_is_what_was_written(name, tmp_path):
    model = make_model(CONFIGS[name])
    write_native(model, tmp_path / "model")
    again = read_native(tmp_path / "model")
    assert again.config == model.config
    assert again.tokenizer == model.tokenizer
    state, wanted = again.bilm.state_dict(), model.bilm.state_dict()
    assert state.keys() == wanted.keys()
    assert all(torch.equal(state[key], wanted[key]) for key in wanted)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_all_files_can_be_read_by_whom_the_umask_allows(tmp_path):
    before = os.umask(0o027)
    try:
        write_native(make_model(), tmp_path / "model")
    finally:
        os.umask(before)
    assert {path.name: oct(path.stat().st_mode & 0o777) for path in (tmp_path / "model").iterdir()} == dict.fromkeys(
        ["config.json", "model.safetensors", "README.md"], "0o640"
    )


@pytest.mark.parametrize("storage", ["float16", "bfloat16"])
def test_half_storage_halves_the_file_and_keeps_the_settled_state_exact(storage, tmp_path):
    model = make_model()
    write_native(model, tmp_path / "whole")
    write_native(model, tmp_path / "half", storage=storage)
    sizes = [(tmp_path / n / "model.safetensors").stat().st_size for n in ("whole", "half")]
    assert sizes[1] < 0.62 * sizes[0]
    again = read_native(tmp_path / "half")
    assert {t.dtype for t in again.bilm.state_dict().values()} == {torch.float32}
    assert torch.equal(again.bilm.settled_c, model.bilm.settled_c)
    weight = model.bilm.lstm.layers[0].weight_x
    rounded = weight.to(getattr(torch, storage)).float()
    assert torch.equal(again.bilm.lstm.layers[0].weight_x, rounded)
    assert not torch.equal(rounded, weight)
    assert stored_as(tmp_path / "half" / "model.safetensors") == storage
    kept = load_file(tmp_path / "half" / "model.safetensors")[
        "lstm.layers.0.weight_x"
    ]  # as the format's own library has it
    assert torch.equal(kept, weight.to(getattr(torch, storage)))


def test_softmax_vocabulary_card_and_tokenizer_travel_along(tmp_path):
    model = make_model()
    softmax = Softmax(torch.randn(len(WORDS), 8), torch.randn(len(WORDS)))
    model = dataclasses.replace(
        model, softmax=softmax, vocabulary=Vocabulary(WORDS), tokenizer=Tokenizer(rule="unicode"), card="# Übung\n"
    )
    write_native(model, tmp_path / "model")
    again = read_native(tmp_path / "model")
    assert again.softmax is not None
    assert torch.equal(again.softmax.weight, softmax.weight)
    assert torch.equal(again.softmax.bias, softmax.bias)
    assert again.vocabulary is not None
    assert list(again.vocabulary.words) == list(WORDS)
    assert again.tokenizer == Tokenizer(rule="unicode")
    assert again.card == "# Übung\n"


def test_a_softmax_tied_to_the_word_vectors_is_written_in_full(tmp_path):
    model = make_model(CONFIGS["words"])
    tied = model.bilm.tokens.weight[1:]
    write_native(dataclasses.replace(model, softmax=Softmax(tied, torch.zeros(len(WORDS)))), tmp_path / "model")
    again = read_native(tmp_path / "model")
    assert again.softmax is not None
    assert torch.equal(again.softmax.weight, tied)


def test_a_softmax_of_another_size_than_the_vocabulary_is_refused():
    with pytest.raises(WeightsError, match=r"softmax.weight is \[5, 8\].*\[7, 8\]"):
        dataclasses.replace(
            make_model(), vocabulary=Vocabulary(WORDS), softmax=Softmax(torch.zeros(5, 8), torch.zeros(5))
        )


def test_an_unsettled_model_is_settled_when_it_is_written(tmp_path):
    model = make_model()
    wanted = model.bilm.settled_h.clone()
    model.bilm.settled_h.zero_()
    assert not model.is_settled
    write_native(model, tmp_path / "model")
    assert torch.allclose(read_native(tmp_path / "model").bilm.settled_h, wanted, atol=1e-6)


def test_weights_are_mapped_and_writing_into_them_leaves_the_file_alone(tmp_path):
    write_native(make_model(), tmp_path / "model")
    before = (tmp_path / "model" / "model.safetensors").read_bytes()
    model = read_native(tmp_path / "model")
    with torch.no_grad():
        for parameter in model.bilm.parameters():
            parameter.add_(1)
    assert (tmp_path / "model" / "model.safetensors").read_bytes() == before


def test_the_recorded_self_test_is_met_by_the_model_as_read(tmp_path):
    write_native(make_model(), tmp_path / "model", storage="float16")
    recorded = json.loads((tmp_path / "model" / "config.json").read_text(encoding="utf-8"))["self_test"]
    model = read_native(tmp_path / "model")
    assert self_test_difference(recorded, run_self_test(model)) < 1e-5
    with torch.no_grad():
        model.bilm.lstm.layers[0].bias.add_(0.1)
    assert self_test_difference(recorded, run_self_test(model)) > 1e-3


def _edit(directory, change):
    path = directory / "config.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    change(values)
    path.write_text(json.dumps(values), encoding="utf-8")


def test_a_newer_format_version_is_refused_with_the_cure(tmp_path):
    write_native(make_model(), tmp_path / "model")
    _edit(tmp_path / "model", lambda v: v.update(format_version=FORMAT_VERSION + 1))
    with pytest.raises(WeightsError, match=r"format_version is 2.*pip install --upgrade"):
        read_native(tmp_path / "model")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v.update(format_version="1"), "format_version is '1'"),
        (lambda v: v.update(format="other"), "format is 'other'"),
        (lambda v: v["architecture"]["lstm"].update(cell_dim=17), r"weight_x: found \[2, 8, 64\].*\[2, 8, 68\]"),
        (lambda v: v["architecture"]["lstm"].update(layers=10**6), r"lstm.layers is 1,000,000, but at most 64"),
        (lambda v: v["architecture"]["lstm"].update(layers=3), "lstm.layers.2.weight_x: is missing"),
        (lambda v: v["architecture"]["lstm"].update(layers=1), "lstm.layers.1.* is not a tensor of this model"),
        (lambda v: v["architecture"]["lstm"].update(wings=2), "unknown key 'wings'"),
        (lambda v: v["architecture"].update(tokens=7), "tokens"),
        (lambda v: v.pop("architecture"), "architecture"),
        (lambda v: v.update(tokenizer={"rule": "sorcery"}), "sorcery"),
        (lambda v: v.pop("tokenizer"), "tokenizer"),
    ],
)
def test_a_wrong_config_is_refused_with_its_place(change, message, tmp_path):
    write_native(make_model(), tmp_path / "model")
    _edit(tmp_path / "model", change)
    with pytest.raises(WeightsError, match=message) as caught:
        read_native(tmp_path / "model")
    assert str(tmp_path / "model") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nan_in_the_weights_is_refused_unless_asked_for(tmp_path):
    model = make_model()
    write_native(model, tmp_path / "model")
    raw = bytearray((tmp_path / "model" / "model.safetensors").read_bytes())
    raw[-4:] = b"\x00\x00\xc0\x7f"
    (tmp_path / "model" / "model.safetensors").write_bytes(raw)
    with pytest.raises(WeightsError, match="has NaN or infinite numbers"):
        read_native(tmp_path / "model")
    assert read_native(tmp_path / "model", finite=False)


def test_a_model_that_overflows_the_storage_type_is_not_written(tmp_path):
    model = make_model()
    with torch.no_grad():
        model.bilm.lstm.layers[0].bias[0, 0] = 1e6
    with pytest.raises(WeightsError, match=r"lstm.layers.0.bias"):
        write_native(model, tmp_path / "model", storage="float16")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_directory_is_replaced_only_on_request_and_only_if_it_is_a_model(tmp_path):
    write_native(make_model(), tmp_path / "model")
    with pytest.raises(WeightsError, match="exists already"):
        write_native(make_model(seed=1), tmp_path / "model")
    write_native(make_model(seed=1), tmp_path / "model", overwrite=True)
    assert read_native(tmp_path / "model").sha256 == make_model(seed=1).sha256
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(WeightsError, match="does not look like a model"):
        write_native(make_model(), tmp_path / "thesis", overwrite=True)
    assert (tmp_path / "thesis" / "chapter.tex").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model", "thesis"]


def test_further_files_become_part_of_the_directory(tmp_path):
    write_native(make_model(), tmp_path / "model", extra={"state.bin": lambda path: path.write_bytes(b"42")})
    assert (tmp_path / "model" / "state.bin").read_bytes() == b"42"


def test_a_failed_write_leaves_the_old_model_and_nothing_else(tmp_path):
    write_native(make_model(), tmp_path / "model")

    def fail(path):
        path.write_bytes(b"half")
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space"):
        write_native(make_model(seed=1), tmp_path / "model", overwrite=True, extra={"state.bin": fail})
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    assert read_native(tmp_path / "model").sha256 == make_model().sha256


def test_a_crash_between_the_two_renames_is_undone_by_the_next_reader(tmp_path):
    write_native(make_model(), tmp_path / "model")
    os.rename(tmp_path / "model", tmp_path / ".model.previous")
    assert read_native(tmp_path / "model").sha256 == make_model().sha256


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL and fork")
def test_a_writer_killed_at_any_of_its_file_operations_leaves_a_loadable_model(tmp_path):
    before, after = make_model(seed=0), make_model(seed=1)

    def replaced(name, *, kill_at=None):
        (tmp_path / name).mkdir()
        write_native(before, tmp_path / name / "model")
        work = partial(write_native, after, tmp_path / name / "model", overwrite=True)
        return run(lambda: work() and None, within=tmp_path / name, kill_at=kill_at)

    undisturbed = replaced("undisturbed")
    assert not undisturbed.error
    assert read_native(tmp_path / "undisturbed" / "model").sha256 == after.sha256
    found = set()
    for n in points(len(undisturbed.operations)):
        assert replaced(str(n), kill_at=n).killed
        found.add(read_native(tmp_path / str(n) / "model").sha256)
    assert found == {before.sha256, after.sha256}


def test_words_become_rows_without_the_caller_knowing_the_scheme():
    words = make_model(CONFIGS["words"])
    assert words.spell(["bank", "nowhere", "<S>"]).tolist() == [[6], [3], [1]]
    assert words.boundary_rows().tolist() == [[1], [2]]
    characters = make_model(CONFIGS["short rows"])
    assert isinstance(characters.config.tokens, CharCNNConfig)
    assert characters.spell(["bank", ""]).shape == (2, 20)
    assert characters.boundary_rows().shape == (2, 20)
    assert words.spell([]).shape == (0, 1)


def test_a_word_model_without_its_vocabulary_is_refused():
    model = make_model(CONFIGS["words"])
    with pytest.raises(WeightsError, match="needs its vocabulary"):
        LoadedModel(bilm=model.bilm, tokenizer=model.tokenizer)
    with pytest.raises(WeightsError, match="has 3 words, but 7 are wanted"):
        LoadedModel(bilm=model.bilm, tokenizer=model.tokenizer, vocabulary=Vocabulary(WORDS[:3]))

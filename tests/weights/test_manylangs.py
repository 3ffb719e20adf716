"""ELMoForManyLangs models against the recorded outputs of its own program: see tests/golden/README.md."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.weights.running import by_all, network, run_batch, token_vectors

from elmo.errors import WeightsError
from elmo.model.stacks import JointLSTMConfig
from elmo.model.state import State
from elmo.weights.describe import describe_model
from elmo.weights.formats import find_in, read_model, write_model
from elmo.weights.verify import verify_model

GOLDEN = Path(__file__).parents[1] / "golden" / "efml"
ELMO = ("cnn_elmo", "cnn_chars_elmo", "cnn_words_elmo", "cnn_elmo_clip", "lstm_words_elmo")
CLOSE = 1e-5


@pytest.fixture(scope="module")
def calls() -> list[list[list[str]]]:
    return json.loads((GOLDEN / "calls.json").read_text(encoding="utf-8"))


def _orders(case: str, size: str) -> list[list[list[int]]]:
    return json.loads((GOLDEN / case / "meta.json").read_text(encoding="utf-8"))[f"{size}_batch_order"]


@pytest.mark.parametrize("size", ["b64", "b3"])
@pytest.mark.parametrize("case", ELMO)
@by_all
def test_every_layer_equals_the_originals_with_its_state_carried_by_row(case, size, calls, how):
    model = read_model(GOLDEN / case)
    expected = np.load(GOLDEN / case / "expected.npz")
    bilm = network(model, how)
    state = bilm.zero_state(64)
    for c, (call, order) in enumerate(zip(calls, _orders(case, size), strict=True)):
        for batch in order:
            rows = slice(0, len(batch))
            layers, after = run_batch(model, [call[n] for n in batch], state.rows(rows), bilm)
            state = State(state.h.clone(), state.c.clone())
            state.h[:, :, rows], state.c[:, :, rows] = after
            for n, found in zip(batch, layers, strict=True):
                wanted = expected[f"{size}_call{c}_sent{n}_layer-2"]
                assert found.shape == wanted.shape
                np.testing.assert_allclose(found.numpy(), wanted, rtol=0, atol=CLOSE, err_msg=f"call {c} sentence {n}")


@by_all
def test_the_joint_encoder_equals_the_originals_padding_and_all(calls, how):
    model = read_model(GOLDEN / "cnn_lstm")
    bilm = network(model, how)
    assert isinstance(model.config.lstm, JointLSTMConfig)
    assert model.dictionaries is not None
    assert model.dictionaries.characters is not None
    expected = np.load(GOLDEN / "cnn_lstm" / "expected.npz")
    # The original reads the padding of a batch like words; here it is spelled out as such.
    padding = torch.full((1, 51), model.dictionaries.characters["<pad>"])
    padding[0, 0] = model.dictionaries.words["<pad>"]
    pad = bilm.tokens(padding).detach()
    for c, (call, order) in enumerate(zip(calls, _orders("cnn_lstm", "b3"), strict=True)):
        for batch in order:
            T = max(len(call[n]) for n in batch) + 2
            for n in batch:
                x = token_vectors(model, call[n], bilm)
                x = torch.cat([x, pad.expand(T - len(x), -1)])
                with torch.no_grad():
                    layers, _ = bilm(x[None], torch.tensor([T]), bilm.zero_state(1))
                wanted = expected[f"b3_call{c}_sent{n}_layer-2"]
                np.testing.assert_allclose(layers[1, 0, 1 : len(call[n]) + 1].numpy(), wanted, rtol=0, atol=CLOSE)


def test_the_joint_encoder_ignores_padding_and_keeps_no_state(calls):
    model = read_model(GOLDEN / "cnn_lstm")
    alone, after = run_batch(model, [calls[0][2]], model.bilm.zero_state(1))
    together, _ = run_batch(model, calls[0], model.bilm.settled_state(len(calls[0])))
    assert (alone[0] - together[2]).abs().max() <= 1e-6
    assert not after.c.any()
    assert model.config.layer_count == 2


@pytest.mark.parametrize("case", [*ELMO, "cnn_lstm"])
def test_a_converted_model_gives_the_same_vectors(case, calls, tmp_path):
    model = read_model(GOLDEN / case)
    write_model(model, tmp_path / "native")
    again = read_model(tmp_path / "native")
    assert again.sha256 == model.sha256
    assert again.dictionaries == model.dictionaries
    assert again.tokenizer == model.tokenizer
    before, _ = run_batch(model, calls[0], model.bilm.settled_state(len(calls[0])))
    after, _ = run_batch(again, calls[0], again.bilm.settled_state(len(calls[0])))
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert all(finding.ok for finding in verify_model(tmp_path / "native"))
    assert describe_model(GOLDEN / case)["format"] == "manylangs"


def test_bilm_tfs_format_refuses_such_a_model(tmp_path):
    for case, message in (("cnn_elmo", "manylangs"), ("cnn_lstm", "joint")):
        with pytest.raises(WeightsError, match=f"{message}.*native format"):
            write_model(read_model(GOLDEN / case), tmp_path / "hdf5", format="bilm-tf")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def copy(tmp_path):
    return Path(shutil.copytree(GOLDEN / "cnn_elmo", tmp_path / "model"))


def test_only_the_name_of_the_architecture_file_counts(copy):
    secret = copy.parent / "secret.json"
    secret.write_text("{}", encoding="utf-8")
    for path in (str(secret), "../secret.json", "C:\\models\\secret.json"):
        (copy / "config.json").write_text(json.dumps({"config_path": path}), encoding="utf-8")
        with pytest.raises(WeightsError, match=r"model: secret.json is missing"):
            read_model(copy)


def test_the_architecture_of_published_models_is_known(copy):
    (copy / "config.json").write_text(
        json.dumps({"config_path": "configs/cnn_50_100_512_4096_sample.json"}), encoding="utf-8"
    )
    with pytest.raises(WeightsError, match=r"word_emb_layer.embedding.weight: found float32 \[40, 5\].*\[40, 100\]"):
        read_model(copy)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("char.dic", b"a\tb\tc\n", "line 1 has 3 fields"),
        ("char.dic", b"a\tone\n", "line 1 has the id 'one'"),
        ("char.dic", b"a\t-1\n", "line 1 has the id '-1'"),
        ("char.dic", b"a\t0\n", "no entry '<bos>'"),
        ("word.dic", b"<oov>\t0\n<pad>\t40\n", "has 40 rows, but the dictionary has an id of 40"),
        ("word.dic", b"", "no entry '<oov>'"),
        ("word.dic", b"\xff\t0\n", "line 1 is not UTF-8"),
        ("tiny_arch.json", b"[]", "found list, but an object"),
        ("tiny_arch.json", b"{}", "token_embedder is None"),
        ("config.json", b'{"config_path": 3}', "config_path is 3"),
        ("encoder.pkl", b"", "encoder.pkl: is not a pickle"),
        ("encoder.pkl", b"PK\x03\x04", "encoder.pkl: is not a zip archive"),
    ],
)
def test_a_damaged_file_is_named(name, content, message, copy):
    (copy / name).write_bytes(content)
    with pytest.raises(WeightsError, match=message) as caught:
        read_model(copy)
    assert str(copy) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_architecture_that_the_original_cannot_run_is_refused(copy):
    values = json.loads((copy / "tiny_arch.json").read_text(encoding="utf-8"))
    values["token_embedder"]["name"] = "lstm"
    (copy / "tiny_arch.json").write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(WeightsError, match="ELMoForManyLangs itself cannot run"):
        read_model(copy)


def test_a_table_larger_than_its_dictionary_is_read(copy):
    lines = (copy / "word.dic").read_bytes().splitlines()
    (copy / "word.dic").write_bytes(b"\n".join(line for line in lines if not line.startswith(b"boat")) + b"\n")
    model = read_model(copy)
    assert model.dictionaries is not None
    assert model.spell(["boat"])[0, 0] == model.dictionaries.words["<oov>"]


def test_pickles_of_old_torch_versions_are_read(copy):
    wanted = read_model(copy).sha256
    for name in ("encoder.pkl", "token_embedder.pkl"):
        tensors = torch.load(copy / name, weights_only=True)
        torch.save(tensors, copy / name, _use_new_zipfile_serialization=False)
        assert not (copy / name).read_bytes().startswith(b"PK")
    assert find_in(copy).format.name == "manylangs"
    assert read_model(copy).sha256 == wanted

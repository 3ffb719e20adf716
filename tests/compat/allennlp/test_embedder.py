"""AllenNLP 0.9's `ElmoEmbedder`: the recorded calls and files, and its edges."""

import copy
import io
import json
import pickle

import h5py
import numpy as np
import pytest
import torch
from tests.compat.golden import DIM, DUMPS, OPTIONS, WEIGHTS, assert_close, assert_same_file, read_json

from elmo.compat.allennlp import ConfigurationError, ElmoEmbedder, batch_to_ids

FOLDER = DUMPS / "allennlp09"
FILES = read_json(FOLDER / "meta.json")["files"]


def make() -> ElmoEmbedder:
    return ElmoEmbedder(OPTIONS, WEIGHTS)


def test_every_recorded_call_gives_allennlps_arrays():
    """On one embedder, in order: the state after each call is where the next one starts, empty sentences or not."""
    embedder = make()
    expected = np.load(FOLDER / "embedder.npz")
    for i, call in enumerate(read_json(FOLDER / "embedder_calls.json")):
        arguments = [call["argument"]] + ([call["batch_size"]] if "batch_size" in call else [])
        results = getattr(embedder, call["call"])(*arguments)
        found = [results] if call["call"] == "embed_sentence" else list(results)
        assert len(found) == call["n_results"]
        for j, array in enumerate(found):
            assert array.dtype == np.float32
            if call["shapes"][j][1] == 0:  # AllenNLP's is [3, 0, 1024], whatever the model
                assert array.shape == (3, 0, DIM)
            else:
                assert_close(array, expected[f"call{i}_{j}"], message=f"call {i}, result {j}")


@pytest.mark.parametrize("name", FILES)
def test_files_equal_allennlps_in_keys_shapes_and_values(name, tmp_path):
    options = dict(FILES[name])
    source = options.pop("input")
    if not isinstance(options.get("batch_size"), int):
        options.pop("batch_size")
    with open(FOLDER / source, encoding="utf-8") as file:
        make().embed_file(file, tmp_path / "out.hdf5", **options)
        assert file.closed
    assert_same_file(tmp_path / "out.hdf5", FOLDER / name)


def test_a_lone_empty_sentence_leaves_the_state_alone():
    one, other = make(), make()
    one.embed_sentence(["salt"])
    other.embed_sentence(["salt"])
    one.embed_sentence([])
    np.testing.assert_array_equal(one.embed_sentence(["salt"]), other.embed_sentence(["salt"]))


def test_batches_of_empty_sentences_give_empty_arrays():
    embedder = make()
    assert [array.shape for array in embedder.embed_batch([[], []])] == [(3, 0, DIM)] * 2
    assert embedder.embed_batch([]) == []
    assert list(embedder.embed_sentences([])) == []


def test_a_sentence_differs_each_time_until_the_state_is_reset():
    embedder = make()
    first, second = embedder.embed_sentence(["salt"]), embedder.embed_sentence(["salt"])
    assert np.abs(first - second).max() > 1e-3
    embedder.reset_states()
    np.testing.assert_array_equal(embedder.embed_sentence(["salt"]), first)


def test_the_module_of_an_embedder_has_its_state():
    one, other = make(), make()
    first, second, third = (one.embed_sentence(["salt", "sea"]) for _ in range(3))
    np.testing.assert_array_equal(other.embed_sentence(["salt", "sea"]), first)
    activations = other.elmo_bilm(batch_to_ids([["salt", "sea"]]))["activations"]
    np.testing.assert_array_equal(torch.cat(activations)[:, 1:-1].numpy(), second)
    np.testing.assert_array_equal(other.embed_sentence(["salt", "sea"]), third)
    assert (other.elmo_bilm.num_layers, other.elmo_bilm.get_output_dim()) == (3, DIM)


def test_weights_that_are_changed_in_the_module_count():
    embedder = make()
    before = embedder.embed_sentence(["salt"])
    embedder.reset_states()
    with torch.no_grad():
        for parameter in embedder.elmo_bilm.parameters():
            parameter.mul_(0.5)
    assert np.abs(embedder.embed_sentence(["salt"]) - before).max() > 1e-3


@pytest.mark.parametrize("with_module", [False, True])
def test_copies_and_pickles_go_on_with_a_state_of_their_own(with_module):
    embedder = make()
    embedder.embed_sentence(["salt"])
    assert not with_module or embedder.elmo_bilm is not None
    copies = [copy.deepcopy(embedder), pickle.loads(pickle.dumps(embedder))]
    second = embedder.embed_sentence(["salt"])
    third = embedder.embed_sentence(["salt"])
    for one in copies:
        np.testing.assert_array_equal(one.embed_sentence(["salt"]), second)
        np.testing.assert_array_equal(one.embed_sentence(["salt"]), third)


def test_batches_come_as_padded_tensors_with_a_mask():
    activations, mask = make().batch_to_embeddings([["a", "b", "c"], [], ["d"]])
    assert activations.shape == (3, 3, 3, DIM)
    assert mask.tolist() == [[1, 1, 1], [0, 0, 0], [1, 0, 0]]
    assert mask.dtype == torch.int64
    assert not activations[1].any()
    assert not activations[2, :, 1:].any()
    assert not activations.requires_grad


def test_sentences_are_taken_lazily():
    def endless():
        while True:
            yield ["salt"]

    assert next(make().embed_sentences(endless(), batch_size=2)).shape == (3, 1, DIM)


def test_tokens_may_be_a_numpy_array():
    words = np.array(["sea", "salt"])
    np.testing.assert_array_equal(make().embed_sentence(words), make().embed_sentence(["sea", "salt"]))


def test_blank_lines_are_refused_before_anything_is_written(tmp_path):
    with pytest.raises(ConfigurationError, match=r"empty lines, at indexes \[1, 2\]"):
        make().embed_file(io.StringIO("A\n\n  \nB\n"), tmp_path / "out.hdf5")
    with pytest.raises(ConfigurationError, match=r"\.\.\.\] \(20 in all\)"):
        make().embed_file(io.StringIO("\n" * 20), tmp_path / "out.hdf5")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["a b\nc\na b\n", "a\na/b\n", ".\n"])
def test_sentences_that_cannot_be_keys_are_refused(text, tmp_path):
    with pytest.raises(ConfigurationError, match="leave use_sentence_keys out"):
        make().embed_file(io.StringIO(text), tmp_path / "out.hdf5", use_sentence_keys=True)
    assert not list(tmp_path.iterdir())


def test_the_number_of_the_last_of_equal_lines_is_kept(tmp_path):
    make().embed_file(io.StringIO("tea\nsoup\ntea\n"), tmp_path / "out.hdf5")
    with h5py.File(tmp_path / "out.hdf5") as file:
        assert set(file) == {"0", "1", "2", "sentence_to_index"}
        assert json.loads(file["sentence_to_index"][0]) == {"tea": "2", "soup": "1"}


def test_wrong_arguments_are_named(tmp_path):
    with pytest.raises(ConfigurationError, match="output_format is 'mean'"):
        make().embed_file(io.StringIO("a\n"), tmp_path / "out.hdf5", "mean")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="batch_size is 0"):
        list(make().embed_sentences([["a"]], 0))
    with pytest.raises(ConfigurationError, match="cuda_device is 99"):
        ElmoEmbedder(OPTIONS, WEIGHTS, cuda_device=99)

"""Recorded outputs of the original implementations: see tests/golden/README.md."""

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from tests.weights.running import by_all, run_batch, run_carried, token_vectors

from elmo.model.characters import CharCNNConfig
from elmo.weights.formats import read_model, write_model

GOLDEN = Path(__file__).parents[1] / "golden" / "bilm"
CASES = ("skip2", "plain1", "deep3", "clipped", "noclip", "noproj", "words")
CLOSE = 1e-5


@pytest.fixture(scope="module")
def batches() -> list[list[list[str]]]:
    return json.loads((GOLDEN / "sentences.json").read_text(encoding="utf-8"))


@by_all
@pytest.mark.parametrize("case", CASES)
def test_every_layer_equals_the_originals(case, batches, how):
    model = read_model(GOLDEN / case)
    expected = np.load(GOLDEN / case / "expected.npz")
    for i, layers in enumerate(run_carried(model, batches, how)):
        for n, found in enumerate(layers):
            wanted = expected[f"layers_{i}"][n, :, : found.shape[1]]
            np.testing.assert_allclose(found.numpy(), wanted, rtol=0, atol=CLOSE, err_msg=f"batch {i} row {n}")


@pytest.mark.parametrize("case", CASES)
def test_rows_of_ids_equal_the_originals(case, batches):
    model = read_model(GOLDEN / case, settle=False)
    expected = np.load(GOLDEN / case / "expected.npz")
    boundaries = model.boundary_rows()
    for i, batch in enumerate(batches):
        for n, sentence in enumerate(batch):
            rows = np.concatenate([boundaries[:1], model.spell(sentence), boundaries[1:]])
            wanted = expected[f"ids_{i}"][n, : len(rows)]
            np.testing.assert_array_equal(rows, wanted.reshape(len(rows), -1))


@by_all
def test_every_layer_equals_allennlp(batches, how):
    model = read_model(GOLDEN / "skip2")
    expected = np.load(GOLDEN / "skip2" / "expected_allennlp.npz")
    for i, layers in enumerate(run_carried(model, batches, how)):
        for n, found in enumerate(layers):
            wanted = expected[f"layers_{i}"][n, :, 1 : 1 + found.shape[1]]
            np.testing.assert_allclose(found.numpy(), wanted, rtol=0, atol=CLOSE)


@by_all
def test_a_token_cache_gives_what_the_original_gives_with_it(batches, how):
    dumps = GOLDEN.parent / "dumps" / "bilm"
    model = read_model(GOLDEN / "skip2", embedding=dumps / "token_embeddings.hdf5", vocabulary=dumps / "vocab.txt")
    expected = np.load(dumps / "cached_expected.npz")
    for i, layers in enumerate(run_carried(model, batches, how)):
        for n, found in enumerate(layers):
            wanted = expected[f"layers_{i}"][n, :, : found.shape[1]]
            np.testing.assert_allclose(found.numpy(), wanted, rtol=0, atol=CLOSE)


def test_the_golden_clips_bind_in_more_than_a_twentieth_of_cells_and_projections(batches):
    model = read_model(GOLDEN / "clipped")
    lstm = model.config.lstm
    assert lstm.cell_clip is not None
    assert lstm.projection_clip is not None
    cells, outputs = [], []
    for direction in range(2):
        for row in range(3):
            state = model.bilm.zero_state(1)
            for batch in batches:
                vectors = token_vectors(model, batch[row])
                for vector in vectors if direction == 0 else vectors.flip(0):
                    with torch.no_grad():
                        _, state = model.bilm(vector[None, None], torch.tensor([1]), state)
                    cells.append(state.c[:, direction])
                    outputs.append(state.h[:, direction])
    assert (torch.stack(cells).abs() >= lstm.cell_clip).float().mean() > 0.05
    assert (torch.stack(outputs).abs() >= lstm.projection_clip).float().mean() > 0.05


@pytest.mark.parametrize("case", CASES)
def test_hdf5_to_native_to_hdf5_changes_no_bit(case, tmp_path):
    write_model(read_model(GOLDEN / case), tmp_path / "native")
    write_model(read_model(tmp_path / "native"), tmp_path / "back", format="bilm-tf")
    assert _datasets(tmp_path / "back" / "weights.hdf5") == _datasets(GOLDEN / case / "weights.hdf5")
    before = json.loads((GOLDEN / case / "options.json").read_text(encoding="utf-8"))
    after = json.loads((tmp_path / "back" / "options.json").read_text(encoding="utf-8"))
    for part, values in before.items():
        assert after[part] | values == after[part]


def _datasets(path: Path) -> dict[str, tuple[tuple[int, ...], str, bytes]]:
    found = {}

    def visit(name: str, value: object) -> None:
        if isinstance(value, h5py.Dataset):
            found[name] = (value.shape, str(value.dtype), value[...].tobytes())

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


def test_the_same_model_has_one_hash_in_both_formats(tmp_path):
    model = read_model(GOLDEN / "skip2")
    write_model(model, tmp_path / "native")
    assert read_model(tmp_path / "native").sha256 == model.sha256
    assert read_model(GOLDEN / "deep3").sha256 != model.sha256


def test_settled_vectors_do_not_depend_on_what_was_read_before(batches):
    model = read_model(GOLDEN / "skip2")
    assert model.is_settled
    (alone,), _ = run_batch(model, [batches[0][0]], model.bilm.settled_state(1))
    together, _ = run_batch(model, batches[0], model.bilm.settled_state(3))
    assert (alone - together[0]).abs().max() <= 1e-6


@pytest.mark.shared
def test_top_layer_equals_tensorflows_over_ten_stateful_batches():
    folder = _shared_golden()
    model = read_model(folder)
    assert isinstance(model.config.tokens, CharCNNConfig)
    sentences = json.loads((folder / "lm_embeddings_sentences.json").read_text(encoding="utf-8"))
    batches = [[sentences[k][i].split() for k in range(3)] for i in range(10)]
    found = run_carried(model, batches)
    worst = 0.0
    for k in range(3):
        with h5py.File(folder / f"lm_embeddings_{k}.hdf5") as file:
            for i in range(10):
                wanted = np.concatenate(list(file[str(i)][...]), axis=-1)  # the two directions side by side
                assert found[i][k][2].shape == wanted.shape
                worst = max(worst, float(np.abs(found[i][k][2].numpy() - wanted).max()))
    assert worst <= 1e-6


def _shared_golden() -> Path:
    for parent in Path(__file__).resolve().parents:
        folder = parent / "shared" / "golden" / "bilm-tf"
        if folder.is_dir():
            return folder
    pytest.skip("shared/golden/bilm-tf is not beside this checkout")

import dataclasses

import numpy as np
import pytest
import torch
from tests.weights.making import CONFIGS, WORDS, make_model

from elmo.embed.embedder import Embedder
from elmo.errors import WeightsError
from elmo.text.vocabulary import Vocabulary
from elmo.weights.describe import describe_model
from elmo.weights.guarded.arrayfile import read_header
from elmo.weights.guarded.tensorfile import read_tensors, write_tensors
from elmo.weights.native import read_native, write_native
from elmo.weights.quantized import dequantize, quantize, scale_shape
from elmo.weights.softmax import Softmax
from elmo.weights.tensors import SCALE
from elmo.weights.verify import verify_model

SENTENCES = ["We tied the boat to the far bank.", "My aunt worked at the bank for 30 years.", "é"]


@pytest.mark.parametrize("name", CONFIGS)
def test_vectors_from_eight_bits_point_where_those_from_whole_weights_do(name, tmp_path):
    model = make_model(CONFIGS[name])
    write_native(model, tmp_path / "model", storage="int8")
    again = read_native(tmp_path / "model")
    assert {t.dtype for t in again.bilm.state_dict().values()} == {torch.float32}
    before, after = (Embedder(m, device="cpu").encode(SENTENCES, layers="all") for m in (model, again))
    for a, b in zip(before, after, strict=True):
        cosines = torch.cosine_similarity(torch.from_numpy(a), torch.from_numpy(b), dim=-1)
        assert cosines.min() > 0.999
        assert cosines.min() < 1 - 1e-9 or name == "words"


@pytest.mark.parametrize("shape", [(2, 5, 7), (5, 7)])
def test_no_number_is_off_by_more_than_half_a_step_of_its_own_channel(shape):
    tensor = np.random.default_rng(0).standard_normal(shape, np.float32) * np.logspace(
        -3, 3, shape[-1], dtype=np.float32
    )
    scales = scale_shape("lstm.layers.0.weight_x", shape)
    assert scales == (*shape[:-2], 1, shape[-1])
    numbers, scale = quantize(tensor, scales)
    assert numbers.dtype == np.int8
    assert (np.abs(dequantize(numbers, scale) - tensor) <= 0.5001 * scale).all()
    largest = np.abs(tensor).max(axis=-2)
    assert np.allclose(scale.squeeze(-2) * 127, largest)


def test_a_table_has_a_scale_for_each_row_and_what_is_small_stays_whole():
    assert scale_shape("softmax.weight", (9, 4)) == (9, 1)
    assert scale_shape("tokens.filters.0", (3, 4, 8)) == (1, 1, 8)
    for name, shape in (("tokens.characters", (262, 16)), ("lstm.layers.0.bias", (2, 8)), ("settled_h", (2, 2, 8))):
        assert scale_shape(name, shape) is None


def test_projections_of_lstms_have_sixteen_bits_and_files_with_eight_are_read(tmp_path):
    model = make_model()
    write_native(model, tmp_path / "model", storage="int8")
    file = tmp_path / "model" / "model.safetensors"
    header = read_header(file)
    kinds = {name: header[name].dtype for name in header if name.endswith("weight_projection")}
    assert kinds["lstm.layers.0.weight_projection"] == kinds["lstm.layers.1.weight_projection"] == "F16"
    assert kinds["tokens.weight_projection"] == "I8"
    own = model.bilm.state_dict()["lstm.layers.0.weight_projection"]
    assert torch.equal(read_native(tmp_path / "model").bilm.state_dict()["lstm.layers.0.weight_projection"], own.half())
    stored = read_tensors(file, {name: entry.shape for name, entry in header.items()})
    for name in [name for name, kind in kinds.items() if kind == "F16"]:
        made = quantize(stored[name].numpy(), scale_shape(name, tuple(stored[name].shape)))
        stored[name], stored[name + SCALE] = map(torch.from_numpy, made)
    write_tensors(file, stored)
    again = read_native(tmp_path / "model").bilm.state_dict()["lstm.layers.0.weight_projection"]
    assert torch.allclose(again, own, atol=0.01 * float(own.abs().max()))


def test_a_projection_of_whole_numbers_without_scales_is_refused(tmp_path):
    write_native(make_model(), tmp_path / "model", storage="int8")
    file = tmp_path / "model" / "model.safetensors"
    stored = read_tensors(file, {name: entry.shape for name, entry in read_header(file).items()})
    name = "lstm.layers.0.weight_projection"
    write_tensors(file, {**stored, name: stored[name].to(torch.uint8)})
    with pytest.raises(WeightsError, match="uint8"):
        read_native(tmp_path / "model")


def test_a_projection_too_large_for_sixteen_bits_has_eight(tmp_path):
    model = make_model()
    with torch.no_grad():
        model.bilm.lstm.layers[0].weight_projection[0, 0, 0] = 1e6
    write_native(model, tmp_path / "model", storage="int8")
    found = read_native(tmp_path / "model").bilm.state_dict()["lstm.layers.0.weight_projection"]
    assert float(found[0, 0, 0]) == pytest.approx(1e6, rel=1e-2)


def test_a_channel_of_zeros_stays_zero():
    numbers, scale = quantize(np.zeros((3, 2), np.float32), (1, 2))
    assert not dequantize(numbers, scale).any()


def test_the_file_is_a_quarter_as_large_and_the_model_is_sound(tmp_path):
    config = CONFIGS["plain"]
    wide = dataclasses.replace(config, lstm=dataclasses.replace(config.lstm, cell_dim=256))
    for storage in ("float32", "int8"):
        write_native(make_model(wide), tmp_path / storage, storage=storage)
    whole, eight = ((tmp_path / s / "model.safetensors").stat().st_size for s in ("float32", "int8"))
    assert eight < 0.55 * whole  # at this size scales and biases still weigh
    assert all(finding.ok for finding in verify_model(tmp_path / "int8"))
    assert describe_model(tmp_path / "int8")["stored as"] == "int8"


def test_storing_what_was_read_from_eight_bits_changes_nothing(tmp_path):
    write_native(make_model(), tmp_path / "a", storage="int8")
    write_native(read_native(tmp_path / "a"), tmp_path / "b", storage="int8")
    a, b = (read_native(tmp_path / n).bilm.state_dict() for n in ("a", "b"))
    for name in a:
        assert torch.allclose(a[name], b[name], rtol=1e-6)


def test_a_softmax_is_stored_in_eight_bits_too(tmp_path):
    softmax = Softmax(torch.randn(len(WORDS), 8), torch.randn(len(WORDS)))
    model = dataclasses.replace(make_model(), softmax=softmax, vocabulary=Vocabulary(WORDS))
    write_native(model, tmp_path / "model", storage="int8")
    again = read_native(tmp_path / "model").softmax
    assert again is not None
    assert torch.allclose(again.weight, softmax.weight, atol=0.02)
    assert torch.equal(again.bias, softmax.bias)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_not_written(bad, tmp_path):
    model = make_model()
    with torch.no_grad():
        model.bilm.lstm.layers[0].weight_x[0, 0, 0] = bad
    with pytest.raises(WeightsError, match=r"lstm.layers.0.weight_x: has NaN"):
        write_native(model, tmp_path / "model", storage="int8")
    assert list(tmp_path.iterdir()) == []


def _rewrite(directory, change):
    path = directory / "model.safetensors"
    tensors = {n: t.clone() for n, t in read_tensors(path, {n: i.shape for n, i in read_header(path).items()}).items()}
    change(tensors)
    write_tensors(path, tensors)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop("lstm.layers.0.weight_x" + SCALE), "weight_x.scale: is missing"),
        (lambda t: t.update({"lstm.layers.0.weight_x" + SCALE: torch.ones(1)}), r"weight_x.scale: found \[1\]"),
        (lambda t: t["lstm.layers.0.weight_x" + SCALE].fill_(float("nan")), "has NaN"),
        (lambda t: t.update({"lstm.layers.0.bias": t["lstm.layers.0.bias"].to(torch.int8)}), "is of type I8"),
        (lambda t: t.update({"lstm.layers.0.bias": t["lstm.layers.0.bias"].to(torch.uint8)}), "types float32, uint8"),
        (lambda t: t.update({"x" + SCALE: torch.ones(1)}), "'x.scale': is not a tensor of this model"),
    ],
)
def test_a_file_that_does_not_fit_together_is_refused(change, message, tmp_path):
    write_native(make_model(), tmp_path / "model", storage="int8")
    _rewrite(tmp_path / "model", change)
    with pytest.raises(WeightsError, match=message):
        read_native(tmp_path / "model")

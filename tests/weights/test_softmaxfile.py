import dataclasses
import errno
import logging
import os

import pytest
import torch
from tests.weights.making import CONFIGS, WORDS, make_model

from elmo.errors import ElmoError, WeightsError
from elmo.text.vocabulary import Vocabulary
from elmo.weights.guarded.tensorfile import write_tensors
from elmo.weights.loaded import LoadedModel
from elmo.weights.softmax import Softmax
from elmo.weights.softmaxfile import add_softmax, write_softmax


@pytest.fixture
def whole() -> LoadedModel:
    generator = torch.Generator().manual_seed(3)
    softmax = Softmax(torch.randn(len(WORDS), 8, generator=generator), torch.randn(len(WORDS), generator=generator))
    return dataclasses.replace(make_model(), softmax=softmax, vocabulary=Vocabulary(WORDS))


def test_a_model_gets_back_the_softmax_that_was_written_apart(whole, tmp_path, caplog):
    write_softmax(whole, tmp_path / "softmax.safetensors")
    bare = make_model()
    with caplog.at_level(logging.WARNING):
        again = add_softmax(bare, tmp_path / "softmax.safetensors")
    assert not caplog.records
    assert again.vocabulary == whole.vocabulary
    assert torch.allclose(again.softmax.weight, whole.softmax.weight, atol=0.02)
    assert torch.equal(again.softmax.bias, whole.softmax.bias)
    assert [p.name for p in tmp_path.iterdir()] == ["softmax.safetensors"]


def test_a_softmax_of_another_bilm_is_taken_with_a_warning(whole, tmp_path, caplog):
    other = make_model(seed=7)
    write_softmax(whole, tmp_path / "a.safetensors")
    add_softmax(other, tmp_path / "a.safetensors")
    assert "made for another biLM" in caplog.text
    caplog.clear()
    write_softmax(whole, tmp_path / "b.safetensors", bilms=[other.sha256])
    add_softmax(other, tmp_path / "b.safetensors")
    assert not caplog.text


def test_a_model_without_a_softmax_has_none_to_write(tmp_path):
    with pytest.raises(WeightsError, match="has no softmax"):
        write_softmax(make_model(), tmp_path / "x.safetensors")


def test_a_softmax_for_other_vectors_is_refused(whole, tmp_path):
    write_softmax(whole, tmp_path / "x.safetensors")
    wide = CONFIGS["plain"]
    wide = dataclasses.replace(
        wide,
        tokens=dataclasses.replace(wide.tokens, output_dim=12),
        lstm=dataclasses.replace(wide.lstm, input_dim=12, projection_dim=12),
    )
    with pytest.raises(WeightsError, match="vectors of 8, but the model's have 12"):
        add_softmax(make_model(wide), tmp_path / "x.safetensors")


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"a": torch.zeros(2)}, "is not a softmax file"),
        (
            {
                "softmax.weight": torch.zeros(7, 8),
                "vocabulary": torch.zeros(3, dtype=torch.uint8),
                "bilms": torch.zeros(1, 32, dtype=torch.uint8),
            },
            "other types",
        ),
        (
            {
                "softmax.weight": torch.zeros(7, 8, dtype=torch.int8),
                "softmax.weight.scale": torch.ones(7, 1),
                "softmax.bias": torch.zeros(7),
                "vocabulary": torch.tensor([0xFF, 0x0A], dtype=torch.uint8),
                "bilms": torch.zeros(1, 32, dtype=torch.uint8),
            },
            "vocabulary cannot be read",
        ),
    ],
)
def test_what_is_no_softmax_file_is_refused(tensors, message, tmp_path):
    write_tensors(tmp_path / "x.safetensors", tensors)
    with pytest.raises(WeightsError, match=message):
        add_softmax(make_model(), tmp_path / "x.safetensors")


def test_a_full_disk_is_named_and_leaves_nothing(whole, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("elmo.weights.guarded.arrayfile.os.fsync", full)
    with pytest.raises(ElmoError, match=r"softmax\.safetensors: cannot be written: No space left on device; make room"):
        write_softmax(whole, tmp_path / "softmax.safetensors")
    assert not list(tmp_path.iterdir())

"""Any model on disk, by the door that everything uses."""

from pathlib import Path

import pytest
from tests.tiny import make_bilm

from elmo.errors import WeightsError
from elmo.text.tokenizer import Tokenizer
from elmo.weights.formats import read_model, write_model
from elmo.weights.loaded import LoadedModel


def test_the_directory_of_a_run_stands_for_its_model(tmp_path: Path) -> None:
    write_model(LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer()), tmp_path / "run" / "model")
    assert read_model(tmp_path / "run").source == str(tmp_path / "run" / "model")
    assert read_model(str(tmp_path / "run")).sha256 == read_model(tmp_path / "run" / "model").sha256


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"config.json": b'{"model_type": "bert"}', "model.safetensors": b""}, "model of the kind 'bert'"),
        ({"saved_model.pb": b""}, "is a SavedModel of TensorFlow"),
        ({"checkpoint": b"", "model.ckpt-1.index": b"", "model.ckpt-1.data-00000-of-00001": b""}, r"dump_weights\.py"),
    ],
    ids=["transformers", "SavedModel", "checkpoint"],
)
def test_a_model_of_others_is_called_what_it_is(tmp_path: Path, files: dict[str, bytes], message: str) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(WeightsError, match=message):
        read_model(tmp_path)

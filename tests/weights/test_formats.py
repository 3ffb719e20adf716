"""Any model on disk, by the door that everything uses."""

from pathlib import Path

from tests.tiny import make_bilm

from elmo.text.tokenizer import Tokenizer
from elmo.weights.formats import read_model, write_model
from elmo.weights.loaded import LoadedModel


def test_the_directory_of_a_run_stands_for_its_model(tmp_path: Path) -> None:
    write_model(LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer()), tmp_path / "run" / "model")
    assert read_model(tmp_path / "run").source == str(tmp_path / "run" / "model")
    assert read_model(str(tmp_path / "run")).sha256 == read_model(tmp_path / "run" / "model").sha256

"""A tiny model as readers give it, in memory and on disk."""

from pathlib import Path

import pytest
from tests.tiny import make_bilm

from elmo.embed.embedder import Embedder
from elmo.embed.loading import load
from elmo.text.tokenizer import Tokenizer
from elmo.weights.formats import write_model
from elmo.weights.loaded import LoadedModel


@pytest.fixture(scope="session")
def model_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "tiny"
    write_model(LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer(rule="treebank")), path)
    return path


@pytest.fixture(scope="session")
def embedder(model_directory: Path) -> Embedder:
    return load(model_directory, device="cpu")

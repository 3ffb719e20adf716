"""Models on disk: made once, copied for each test."""

import shutil
from pathlib import Path

import pytest
from tests.weights.making import CONFIGS, make_model

from elmo.weights.formats import write_model


@pytest.fixture(scope="session")
def _models(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    write_model(make_model(), folder / "hdf5", format="bilm-tf")
    write_model(make_model(CONFIGS["words"]), folder / "native")
    return folder


@pytest.fixture
def checkpoint(_models, tmp_path) -> Path:
    """The tiny model in bilm-tf's format."""
    return Path(shutil.copytree(_models / "hdf5", tmp_path / "hdf5"))


@pytest.fixture
def native(_models, tmp_path) -> Path:
    """A tiny model of words in the native format."""
    return Path(shutil.copytree(_models / "native", tmp_path / "native"))

"""A tiny model on disk, and the command line as a function."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.tiny import make_bilm

from elmo.apps.cli import main
from elmo.text.tokenizer import Tokenizer
from elmo.weights.formats import write_model
from elmo.weights.loaded import LoadedModel


class Done(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


Command = Callable[..., Done]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*arguments: object) -> Done:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "tiny"
    write_model(LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer(rule="treebank")), path)
    return path

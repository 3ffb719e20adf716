"""A tiny model on disk, and the command line as a function."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from tests.tiny import make_bilm

from elmo.apps.cli import main
from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import Vocabulary
from elmo.weights.formats import write_model
from elmo.weights.loaded import LoadedModel, Softmax


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


@pytest.fixture(scope="session")
def speaking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model with a softmax."""
    vocabulary = Vocabulary(("<S>", "</S>", "<UNK>", "the", "cat", "dog", "sat", "on", "saw", ".", "number", "It"))
    size = make_bilm().config.lstm.output_dim
    weight = torch.randn(len(vocabulary), size, generator=torch.Generator().manual_seed(1)) * 0.1
    path = tmp_path_factory.mktemp("speaking") / "model"
    loaded = LoadedModel(
        bilm=make_bilm(),
        tokenizer=Tokenizer(rule="treebank"),
        softmax=Softmax(weight, torch.zeros(len(vocabulary))),
        vocabulary=vocabulary,
    )
    write_model(loaded, path)
    return path

"""A tiny model on disk, for the tests of all integrations; and the texts of their proofs."""

from pathlib import Path

from tests.integrations.proofs.texts import SENTENCES, TEXTS
from tests.tiny import make_bilm

from elmo.text.tokenizer import Tokenizer
from elmo.weights import LoadedModel, write_model

__all__ = ["SENTENCES", "TEXTS", "write_tiny"]


def write_tiny(folder: Path, *, seed: int = 0) -> Path:
    """A random model with vectors of 16 numbers; gives its folder."""
    write_model(LoadedModel(bilm=make_bilm(seed=seed), tokenizer=Tokenizer(rule="treebank")), folder)
    return folder

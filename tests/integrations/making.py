"""A tiny model on disk and a few texts, for the tests of all integrations."""

from pathlib import Path

from tests.tiny import make_bilm

from elmo.text.tokenizer import Tokenizer
from elmo.weights import LoadedModel, write_model

TEXTS = [
    "I sat on the river bank.",
    "The bank didn't approve my loan.",
    "Yes",
    "We walked along the bank. It was late, and the water was high.",
    "Money is kept in a bank!",
    "They fished from the bank of the stream.",
    "The loan was paid back to the bank on Monday.",
    "Boats lay at the bank.",
]
SENTENCES = [["The", "ferry", "leaves", "at", "noon", "."], ["Fog"], ["Zürich", "naïve", "cafés", "…"]]


def write_tiny(folder: Path, *, seed: int = 0) -> Path:
    """A random model with vectors of 16 numbers; gives its folder."""
    write_model(LoadedModel(bilm=make_bilm(seed=seed), tokenizer=Tokenizer(rule="treebank")), folder)
    return folder

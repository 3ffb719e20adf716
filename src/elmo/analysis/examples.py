"""The packaged sentences: ambiguous words in known senses, and a small collection to search for neighbours in."""

from collections.abc import Iterator
from importlib.resources import files
from typing import NamedTuple

# Two sets of senses: the first is easier than life; the open one has more constructions, subjects and lengths.
SENSE_SETS = {"first": "senses.txt", "open": "senses-open.txt"}
SENTENCES = "sentences.txt"


class Use(NamedTuple):
    """A word in a sentence, in a known sense."""

    word: str
    sense: str
    sentence: str


def read_senses(name: str = "first") -> list[Use]:
    """The uses of a set of `SENSE_SETS`, to measure with, not to train on.

    `first`: 24 ambiguous words, 10 sentences each, five of each of two senses. `open`: 25 other words, 20 sentences
    each, ten of each of two senses, or seven, seven and six of three.
    """
    uses, word, sense = [], "", ""
    for line in _lines(SENSE_SETS[name]):
        head, found, rest = line.partition(": ")
        if found and line[-1] not in ".?!":
            word, sense = head, rest
        else:
            uses.append(Use(word, sense, line))
    return uses


def read_everyday() -> list[str]:
    """220 sentences of every day, with ambiguous words among others."""
    return list(_lines(SENTENCES))


def read_collection() -> list[str]:
    """The sentences of `read_everyday` and of the first set of senses; the open set is left to measuring."""
    return [use.sentence for use in read_senses()] + read_everyday()


def _lines(name: str) -> Iterator[str]:
    text = files("elmo.analysis").joinpath("data", name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line and not line.startswith("#"))

"""The packaged sentences: ambiguous words in two senses each, and a small collection to search for neighbours in."""

from collections.abc import Iterator
from importlib.resources import files
from typing import NamedTuple

SENSES, SENTENCES = "senses.txt", "sentences.txt"


class Use(NamedTuple):
    """A word in a sentence, in a known sense."""

    word: str
    sense: str
    sentence: str


def read_senses() -> list[Use]:
    """24 ambiguous words, 10 sentences each: five of each of two senses. To measure with, not to train on."""
    uses, word, sense = [], "", ""
    for line in _lines(SENSES):
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
    """All packaged sentences: those of `read_senses` and of `read_everyday`."""
    return [use.sentence for use in read_senses()] + read_everyday()


def _lines(name: str) -> Iterator[str]:
    text = files("elmo.analysis").joinpath("data", name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line and not line.startswith("#"))

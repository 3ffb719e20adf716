"""Dialogues in JSON: the turns of each, without who speaks. A function for each data set."""

import json
import re
from collections.abc import Iterable, Iterator

from recipes.english.extract.archive import File

_HEARD = re.compile(r"\{[^{}]*\}")
# "I 'm", "word - level" and " , ": how the transcripts set their marks apart.
_APART = re.compile(r" (?=[.,?!;:](?:\s|$))|(?<=\w) (?='(?:m|s|d|re|ve|ll|t)\b)|(?<=\w) (?=- \w)|(?<=\w -) (?=\w)")


def schema_guided(files: Iterable[File]) -> Iterator[list[str]]:
    """Schema-Guided Dialogue: a list of dialogues with their turns."""
    for _, content in files:
        for dialogue in json.loads(content):
            yield [turn["utterance"] for turn in dialogue["turns"]]


def taskmaster(files: Iterable[File]) -> Iterator[list[str]]:
    """Taskmaster: a list of conversations with their utterances."""
    for _, content in files:
        for conversation in json.loads(content):
            yield [utterance["text"] for utterance in conversation["utterances"]]


def topical_chat(files: Iterable[File]) -> Iterator[list[str]]:
    """Topical-Chat: conversations by their names, each with its messages."""
    for _, content in files:
        for conversation in json.loads(content).values():
            yield [message["message"] for message in conversation["content"]]


def meetings(files: Iterable[File]) -> Iterator[list[str]]:
    """QMSum's meetings, one a file: the turns, with sounds in braces and marks that stand apart."""
    for _, content in files:
        turns = json.loads(content)["meeting_transcripts"]
        yield [_APART.sub("", " ".join(_HEARD.sub(" ", turn["content"]).split())) for turn in turns]

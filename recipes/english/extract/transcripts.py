"""More transcripts of speech, in plain text: a function for each source."""

import re
from collections.abc import Iterable, Iterator

from recipes.english.extract.archive import File
from recipes.english.extract.wrapped import paragraphs, unwrapped

_TIMED_NAME = re.compile(r"^[A-Z][^():]{1,60} \(\d[\d:.]*\)(?: -|:)?\s*")
_CAPITAL_NAME = re.compile(
    r"^(?:CHAIRMAN|VICE CHAIRMAN|MR|MS|MRS|MESSRS|SPEAKER)\.? ?[A-Z' -]*\.\s+|^SPEAKER\(\?\)\.\s+"
)
_HEARD = re.compile(r"\s*\[[^\[\]]*\]|\s*\((?i:laughter|applause)[^()]*\)")
_TAG = re.compile(r"<[^<>]*>")
_SPACED = re.compile(r"(?:\b\w\b\W+){4}")
_TIME_OR_REMARK = re.compile(r"^(?:\[-?\d\d:[\d:]+\]|_.*|#.*)$", re.MULTILINE)
_GLOSSARY = re.compile(r"\[(?:glossary|time):(?:[^\]|]*\|)?([^\]|]*)\]")
_CALL_SIGN = re.compile(r"^[A-Z0-9()/ -]{1,12}: ")


def metamuse(files: Iterable[File]) -> Iterator[list[str]]:
    """Episodes with a name and a time before each turn."""
    for _, content in files:
        yield [_TIMED_NAME.sub("", line) for line in paragraphs(content.decode("utf-8", "replace"))]


def fomc(files: Iterable[File]) -> Iterator[list[str]]:
    """Meetings of the Federal Open Market Committee: the turns, without those spelled letter by letter by a scanner."""
    for _, content in files:
        lines = (_CAPITAL_NAME.sub("", line) for line in paragraphs(content.decode("utf-8", "replace")))
        yield [_HEARD.sub("", line) for line in lines if not _SPACED.search(line)]


def federal_reserve(files: Iterable[File]) -> Iterator[list[str]]:
    """Speeches and testimony, a paragraph a line, but in some of them lines have hard ends."""
    for _, content in files:
        lines = unwrapped(content.decode("utf-8", "replace").replace("[SECTION]", ""))
        yield [_HEARD.sub("", line) for line in lines]


def presidents(files: Iterable[File]) -> Iterator[list[str]]:
    """Speeches with a head between angle brackets."""
    for _, content in files:
        yield [_HEARD.sub("", _TAG.sub("", line)) for line in content.decode("utf-8", "replace").splitlines()]


def missions(files: Iterable[File]) -> Iterator[list[str]]:
    """Radio transcripts: a line with the time before each call, who speaks before a colon, remarks after a low line."""
    for _, content in files:
        calls = paragraphs(_TIME_OR_REMARK.sub("", content.decode("utf-8", "replace")))
        yield [_GLOSSARY.sub(r"\1", _CALL_SIGN.sub("", call)) for call in calls]

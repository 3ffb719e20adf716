"""Articles of a wiki's dump as WikiExtractor wrote them: `<doc ...>` and `</doc>` around each, or a JSON object a line.

Templates are missing there, and with them measures ("a speed of .") and foreign names ("(; born 1942)").
"""

import json
import re
from collections.abc import Iterable, Iterator

from recipes.english.extract.archive import File
from recipes.english.extract.tidy import tidy

_HEADING = re.compile(r"<h[1-6]>(.*?)</h[1-6]>")
_TAG = re.compile(r"<[^<>]*>")
_BULLET = re.compile(r"^(?:BULLET::::|NUMBERED::::)[-.:]*\s*")
_HOLE = re.compile(
    r"(?<=\b(?:of|at|to|by|in|is|as)) [.,;](?=\s|$)|\b(?:about|was|for|from|than|over|approximately) [.,;]|\(\s*\)"
)
_SENTENCE_END = re.compile(r"(?<=[.!?][\"'”’)])\s+|(?<=[.!?])\s+(?=[\"'“‘(]?[A-Z])")
_EMPTY = re.compile(r"\s*\(\s*\)")
_EMPTY_START = re.compile(r"\((?:\s*[,;:])+\s*")
_BOLD = "♡❤♡"
# Whatever follows one of these headings is no prose: links, books, signatures.
_END = re.compile(
    r"(?:sources?|external links?|related (?:news|articles?|links?)|sister links?|see also|references|notes|footnotes"
    r"|bibliography|further reading|discography|filmography|gallery)\.?"
)


def articles(files: Iterable[File]) -> Iterator[list[str]]:
    """The lines of each article, without its title and what comes after its text."""
    for _, content in files:
        text = content.decode("utf-8", "replace")
        if text.startswith("{"):
            for line in text.splitlines():
                yield _prose(json.loads(line)["text"].split("\n"))
            continue
        lines: list[str] = []
        for line in text.splitlines():
            if line.startswith("<doc "):
                lines = []
            elif line.startswith("</doc>"):
                yield _prose(lines[1:])  # the first line is the title
            else:
                lines.append(line)


def _prose(lines: list[str]) -> list[str]:
    prose = []
    for line in lines:
        heading = _HEADING.fullmatch(line.strip())
        text = heading[1] if heading else line
        if "&" in text or _BOLD in text:  # some dumps have their links and styles as escaped tags
            text = _TAG.sub("", tidy(text).replace(_BOLD, ""))
        if (heading or len(text) < 20) and _END.fullmatch(text.strip().lower()):
            break
        if not heading:
            prose.append(_without_holes(_TAG.sub("", _BULLET.sub("", text))))
    return prose


def _without_holes(text: str) -> str:
    """The text without sentences that a missing template broke, and without brackets that it emptied."""
    text = _EMPTY_START.sub("(", _EMPTY.sub("", text))
    if not _HOLE.search(text):
        return text
    return " ".join(sentence for sentence in _SENTENCE_END.split(text) if not _HOLE.search(sentence))

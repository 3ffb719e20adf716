"""Paragraphs of text whose lines have hard ends: an empty line stands between two of them."""

from collections.abc import Iterable, Iterator

from elmo.text.wrapped import study_breaks


def paragraphs(text: str) -> Iterator[str]:
    """Each paragraph with its lines joined by a space, as it begins: what indents it may say what it is."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.strip():
            lines.append(line if lines else line.lstrip())
        elif lines:
            yield " ".join(lines)
            lines = []
    if lines:
        yield " ".join(lines)


def unwrapped(text: str) -> Iterable[str]:
    """The lines of a text, or its paragraphs if the lines look as if they were cut at a width."""
    lines = text.splitlines()
    return paragraphs(text) if study_breaks(lines).wrapped else lines

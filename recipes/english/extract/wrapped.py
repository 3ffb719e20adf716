"""Paragraphs of text whose lines have hard ends: an empty line stands between two of them."""

from collections.abc import Iterator


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

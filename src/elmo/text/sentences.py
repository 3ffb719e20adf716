"""Raw text to sentences: where each begins and ends. Says which rule a language gets; the rules need no data files.

A blank line always ends a sentence; other line ends are white space, because books wrap their lines. Spans never begin
or end with white space, and nothing but white space lies between them.
"""

import re
from collections.abc import Callable, Iterable

from elmo.text import punkt, sentences_by_rule

Span = tuple[int, int]

# Languages with a rule of their own, which takes a paragraph; all others go by `sentences_by_rule`.
_OWN_RULES: dict[str, Callable[[str], list[Span]]] = {"en": punkt.split}

_BLANK_LINE = re.compile(r"\n\s*\n")
_ODD_SPACE = re.compile(r"[^\S ]")


def split_sentences(text: str, language: str) -> list[Span]:
    """The sentences of `text`, as (start, end); `language` is a code such as "en" or "pt-BR"."""
    # One kind of white space makes the rules simpler and faster, and the places stay the same. Space is the only white
    # space that is printable.
    flat = text if text.isprintable() else _ODD_SPACE.sub(" ", text)
    code = language.partition("-")[0].lower()
    own = _OWN_RULES.get(code)
    spans: list[Span] = []
    for start, end in _stripped(text, _paragraphs(text)):
        paragraph = flat[start:end]
        found = sentences_by_rule.split(paragraph, code) if own is None else own(paragraph)
        spans += [(start + s, start + e) for s, e in found]
    return spans


def split_lines(text: str) -> list[Span]:
    """The lines of `text` that hold more than white space, as (start, end): for text with one sentence a line."""
    return list(_stripped(text, (line.span() for line in re.finditer(r"[^\n]+", text))))


def _paragraphs(text: str) -> Iterable[Span]:
    start = 0
    if "\n" in text:
        for blank in _BLANK_LINE.finditer(text):
            yield start, blank.start()
            start = blank.end()
    yield start, len(text)


def _stripped(text: str, spans: Iterable[Span]) -> Iterable[Span]:
    """The spans without white space at their ends, the empty ones left out."""
    for start, end in spans:
        body = text[start:end].lstrip()
        start = end - len(body)
        end = start + len(body.rstrip())
        if start < end:
            yield start, end

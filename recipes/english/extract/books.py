"""Books of Project Gutenberg: the text between its two marks, line ends joined, a document a chapter."""

import re
from collections.abc import Iterable, Iterator

from recipes.english.extract.archive import File
from recipes.english.extract.wrapped import paragraphs

_START = re.compile(r"^\*\*\* ?START OF TH.*$|^\*END[* ]*THE SMALL PRINT.*$", re.MULTILINE)
_END = re.compile(r"^(?:\*\*\* ?)?END OF (?:THE|THIS)? ?PROJECT GUTENBERG.*", re.MULTILINE | re.IGNORECASE)
_CHAPTER = re.compile(
    r"(?:CHAPTER|Chapter|BOOK|PART|ACT|LETTER|Letter|VOLUME)\b.{0,80}|[IVXLC]+\.?(?:\s.{0,60})?|[A-Z ,'’-]{4,60}\.?"
)
_ASIDE = re.compile(r"\[(?:Illustration|Footnote|Transcriber|Note|Sidenote)[^\]]*\]|\[\d+\]|\[[A-Z]\]")
_EMPHASIS = re.compile(r"(?<!\w)[_=](?=\S)|(?<=\S)[_=](?!\w)")
_MAKER = re.compile(r"(?i)produced by|transcribed|e-?text|proofread|gutenberg|scann(?:ed|er)|ebook")
_ENGLISH = re.compile(r"^Language: (?!English)", re.MULTILINE)


def gutenberg(files: Iterable[File]) -> Iterator[list[str]]:
    """The chapters of each English book. What names its makers is left out."""
    for _, content in files:
        text = content.decode("utf-8", "replace").replace("\r\n", "\n").removeprefix("\ufeff")
        start = _START.search(text)
        if start is None or _ENGLISH.search(text, 0, start.start()):
            continue
        end = _END.search(text, start.end())
        chapter: list[str] = []
        for paragraph in paragraphs(text[start.end() : end.start() if end else len(text)]):
            if _CHAPTER.fullmatch(paragraph):
                yield chapter
                chapter = []
            elif not _MAKER.search(paragraph):
                chapter.append(_EMPHASIS.sub("", _ASIDE.sub("", paragraph)))
        yield chapter

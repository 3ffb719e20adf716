"""Sources that are pages of HTML or XHTML: books of Standard Ebooks, reports of the State Department."""

import re
from collections.abc import Iterable, Iterator

from recipes.english.extract.archive import File
from recipes.english.extract.markup import paragraphs_of

_NUMBER = re.compile(r"(\d+)")
_NO_CHAPTER = re.compile(
    r".*/(?:titlepage|imprint|colophon|uncopyright|halftitlepage|endnotes|loi|toc|glossary|bibliography)\.xhtml"
)


def standard_ebooks(files: Iterable[File]) -> Iterator[list[str]]:
    """Each chapter of a book. Chapters are sorted as people count them: 2 before 10."""
    chapters = [(name, content) for name, content in files if not _NO_CHAPTER.fullmatch(name)]
    chapters.sort(key=lambda file: [int(part) if part.isdigit() else part for part in _NUMBER.split(file[0])])
    for _, content in chapters:
        yield paragraphs_of(content.decode("utf-8", "replace"))


def reports(files: Iterable[File]) -> Iterator[list[str]]:
    """The paragraphs of each page; what all pages repeat is left to the search for repeated lines."""
    for _, content in files:
        yield paragraphs_of(content.decode("utf-8", "replace"))

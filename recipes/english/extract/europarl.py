"""Debates of the European Parliament: XML with a section for each topic and a paragraph for each turn or part of it."""

import re
from collections.abc import Iterable, Iterator
from xml.etree import ElementTree

from recipes.english.extract.archive import File

# "(DE) Mr President": the language of a translated turn. Applause and the like stand between brackets too.
_BRACKETS = re.compile(r"^\s*\([A-Z]{2}\)\s*|\s*\((?:[A-Z][^()]{0,80}|[^()]*(?i:applause)[^()]*)\)\s*$")
_BROKEN_APOSTROPHE = re.compile(r'(?<=\w)"(?=s\b)')  # the sittings of 1999 have `Mr Barton"s`


def debates(files: Iterable[File]) -> Iterator[list[str]]:
    """The paragraphs of each topic of each sitting."""
    for name, content in files:
        try:
            sitting = ElementTree.fromstring(content)
        except ElementTree.ParseError as error:
            raise SystemExit(f"{name}: is no XML ({error}); get the file again") from error
        for section in sitting.iter("section"):
            turns = ("".join(paragraph.itertext()) for paragraph in section.iter("p"))
            yield [_BROKEN_APOSTROPHE.sub("'", _BRACKETS.sub("", turn)) for turn in turns]

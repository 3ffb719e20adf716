"""Sources of articles in Markdown, and of stories as HTML in JSON."""

import json
import re
from collections.abc import Iterable, Iterator

from recipes.english.extract.archive import File
from recipes.english.extract.markdown import plain, without_front_matter
from recipes.english.extract.markup import paragraphs_of
from recipes.english.extract.wrapped import paragraphs

_CODE = re.compile(r"^(```+|~~~+|:::+).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{[a-z:]+\}`([^`<]*?)(?:\s*<[^`]*>)?`", re.DOTALL)
_HEADING = re.compile(r"^(?:#.*|\([\w-]+\)=\s*)$", re.MULTILINE)
_NOTE = re.compile(r"\[\^?\d+\]")
_LIST = re.compile(r"\n(?=\s*(?:[-*+]|\d+\.)\s)")


def markdown(files: Iterable[File]) -> Iterator[list[str]]:
    """The paragraphs and items of each article, without its code."""
    for _, content in files:
        text = without_front_matter(content.decode("utf-8", "replace"))
        text = _TEMPLATE.sub(lambda found: found[1] or "", _HEADING.sub("", _CODE.sub("", text)))
        yield [_NOTE.sub("", plain(line)) for line in paragraphs(_LIST.sub("\n\n", text))]


def stories(files: Iterable[File]) -> Iterator[list[str]]:
    """The SCP wiki's pages by their names."""
    for _, content in files:
        for page in json.loads(content).values():
            yield paragraphs_of(page["raw_content"])

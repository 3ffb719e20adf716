"""Sources in XML: novels of ELTeC and papers of the State Department (TEI), eLife (JATS), MedQuAD, prime ministers."""

import re
from collections.abc import Collection, Iterable, Iterator
from xml.etree import ElementTree

from recipes.english.extract.archive import File
from recipes.english.extract.wrapped import paragraphs

_TEI = "{http://www.tei-c.org/ns/1.0}"
_ESSAYS = {"article-commentary", "editorial", "discussion", "review-article"}
_DIGESTS = {"executive-summary", "plain-language-summary"}
_BREAK = re.compile(r"<br\s*/?>\n?")
_PARAGRAPH = re.compile(r"</?p[^<>]*>")
_TAG = re.compile(r"<[^<>]*>")
_SPEAKER = re.compile(r"^(?:PRIME MINISTER\b[:;]?|PM:|[A-Z][A-Z. ]{3,40}:)\s*")
_ITEM = re.compile(r"\s+- +")


def words_in(element: ElementTree.Element, left_out: Collection[str]) -> str:
    """The text of an element without that of some elements in it."""
    parts = [element.text or ""]
    for child in element:
        if child.tag not in left_out:
            parts.append(words_in(child, left_out))
        parts.append(child.tail or "")
    return "".join(parts)


def _parsed(files: Iterable[File]) -> Iterator[tuple[str, ElementTree.Element]]:
    for name, content in files:
        try:
            yield name, ElementTree.fromstring(content)
        except ElementTree.ParseError as error:
            raise SystemExit(f"{name}: is no XML ({error}); get the file again") from error


def _tei(files: Iterable[File], divisions: Collection[str]) -> Iterator[list[str]]:
    left_out = {f"{_TEI}{tag}" for tag in ("note", "pb", "head", "table", "figure", "ref", "gap")}
    for _, root in _parsed(files):
        for body in root.iter(f"{_TEI}body"):
            for division in body.iter(f"{_TEI}div"):
                if division.get("type") in divisions:
                    yield [words_in(paragraph, left_out) for paragraph in division.iter(f"{_TEI}p")]


def novels(files: Iterable[File]) -> Iterator[list[str]]:
    """ELTeC: each chapter of each novel."""
    return _tei(files, {"chapter", "letter"})


def diplomatic_papers(files: Iterable[File]) -> Iterator[list[str]]:
    """Foreign Relations of the United States: each document, without notes."""
    return _tei(files, {"document"})


def elife(files: Iterable[File]) -> Iterator[list[str]]:
    """The digest of each article, which is in plain words, and the whole of insights, editorials and reviews."""
    left_out = {"xref", "table-wrap", "fig", "disp-formula", "inline-formula", "title", "object-id"}
    # Most of thirty thousand articles have neither, and need not be parsed.
    wanted = (file for file in files if any(f'"{kind}"'.encode() in file[1] for kind in _DIGESTS | _ESSAYS))
    for _, root in _parsed(wanted):
        digests = [abstract for abstract in root.iter("abstract") if abstract.get("abstract-type") in _DIGESTS]
        bodies = list(root.iter("body")) if root.get("article-type") in _ESSAYS else []
        for part in [*digests, *bodies[:1]]:
            yield [words_in(paragraph, left_out) for paragraph in part.iter("p")]


def medquad(files: Iterable[File]) -> Iterator[list[str]]:
    """The answers of each page, cut at the dashes of their lists."""
    for _, root in _parsed(files):
        lines = (line for answer in root.iter("Answer") for line in paragraphs(answer.text or ""))
        yield [piece for line in lines for piece in _ITEM.split(line)]


def prime_ministers(files: Iterable[File]) -> Iterator[list[str]]:
    """Australian transcripts: HTML within XML, whose lines are broken where the paper's were."""
    for _, root in _parsed(files):
        for content in root.iter("content"):
            document = []
            for part in _PARAGRAPH.split(content.text or ""):
                text = _TAG.sub("", _BREAK.sub("\n", part))
                document.extend(_SPEAKER.sub("", " ".join(turn.split())) for turn in paragraphs(text))
            yield document

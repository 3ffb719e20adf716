"""Documents in the columns of CoNLL-2012: a token a line, chains in brackets in the last column, written and read.

    #begin document (letters/7); part 000
    letters/7  0  0  Maria  NNP  *  -  -  -  Maria  *  (3)
    letters/7  0  1  lost   VBD  *  -  -  -  Maria  *  -
    letters/7  0  2  her    PRP$ *  -  -  -  Maria  *  (5|(3)
    letters/7  0  3  key    NN   *  -  -  -  Maria  *  5)
    #end document

`(3` opens a mention of chain 3, `3)` closes it, `(3)` is one token; `|` between them may be left out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from elmo.disk.guarded.plainfiles import shortened
from elmo.errors import ConfigError, InputError
from elmo.tasks.coreference.chains import Chain, Mention
from elmo.tasks.examples import Example, Raw, Text
from elmo.tasks.tagging.columns import ColumnRow
from elmo.text.apostrophes import straighten_english
from elmo.text.lines import read_lines

NONE = "-"
BEGIN, END = "#begin document", "#end document"
_NAMED = re.compile(r"#begin document\s*\((.*)\)\s*;?\s*(?:part\s+(\S+))?\s*")
_CELL = re.compile(r"(?:\|?(?:\(\d+\)?|\d+\)))+")
_BRACKET = re.compile(r"(\()?(\d+)(\))?")


@dataclass(frozen=True, kw_only=True)
class DocumentColumns:
    """Which columns are what, from 1; chains are in the last one. `speaker`: None where the file has none."""

    token: int = 4
    speaker: int | None = 10

    def __post_init__(self) -> None:
        if min(self.token, self.speaker or 1) < 1:
            raise ConfigError(f"columns are token {self.token}, speaker {self.speaker}; they count from 1")

    @property
    def least(self) -> int:
        """How many columns a token has at least, that of the chains among them."""
        return max(self.token, self.speaker or 1) + 1


@dataclass(frozen=True)
class Document(Example):
    """A document by its name and part, with the speaker of each token; `given` numbers them, 0 where there is none."""

    name: str = "text"
    part: str = "000"
    speakers: tuple[str, ...] = ()


def read_documents(path: str, columns: DocumentColumns, *, answers: bool) -> Iterator[Document]:
    """The documents of a file, with their chains if `answers` are wanted."""
    rows: list[list[ColumnRow]] = []
    opened: tuple[int, str] | None = None  # the line that opens a document, as it is written
    for number, line in read_lines(path):
        if line.startswith(BEGIN):
            if opened is not None:
                raise InputError(f"{path}: line {number} begins a document inside of that from line {opened[0]}")
            opened, rows = (number, line), [[]]
        elif line.startswith(END):
            if opened is None:
                raise InputError(f"{path}: line {number} ends a document that has not begun; {BEGIN!r} is wanted first")
            yield _document(rows, columns, *opened, path=path, answers=answers)
            opened = None
        elif not line.strip():
            rows.append([])
        elif line.startswith("#"):
            continue
        elif opened is None:
            raw = "" if answers else "; raw text is read with --text"
            raise InputError(f"{path}: line {number} stands outside of a document; {BEGIN!r} is wanted before it{raw}")
        else:
            cells = line.split("\t") if "\t" in line else line.split()
            if len(cells) < columns.least:
                raise InputError(
                    f"{path}: line {number} has {len(cells)} columns; at least {columns.least} are wanted: the token "
                    f"in {columns.token}, the speaker in {columns.speaker}, chains in the last"
                )
            rows[-1].append(ColumnRow(number, cells))
    if opened is not None:
        raise InputError(f"{path}: line {opened[0]} begins a document that does not end; {END!r} is wanted behind it")


def write_document(document: Document, words: Sequence[str], chains: Sequence[Chain]) -> Iterator[str]:
    """A document as lines that `read_documents` reads with its usual columns."""
    opening: list[list[tuple[int, int]]] = [[] for _ in words]  # (-end, chain): the widest opens first
    closing: list[list[tuple[int, int]]] = [[] for _ in words]
    single: list[list[int]] = [[] for _ in words]
    for number, mentions in enumerate(chains):
        for start, end in mentions:
            if end - start == 1:
                single[start].append(number)
            else:
                opening[start].append((-end, number))
                closing[end - 1].append((-start, number))
    name, part = document.name, document.part
    speakers = document.speakers or (NONE,) * len(words)
    yield f"{BEGIN} ({name}); part {part}"
    start = 0
    for end in document.texts[0].ends:
        for n in range(start, end):
            cell = [f"({number}" for _, number in sorted(opening[n])]
            cell += [f"({number})" for number in single[n]]
            cell += [f"{number})" for _, number in sorted(closing[n])]
            fields = (name, part.lstrip("0") or "0", str(n - start), words[n], *[NONE] * 5, speakers[n], "*")
            yield "\t".join((*fields, "|".join(cell) or NONE))
        yield ""
        start = end
    yield END


def _document(
    sentences: list[list[ColumnRow]], columns: DocumentColumns, line: int, header: str, *, path: str, answers: bool
) -> Document:
    kept = [sentence for sentence in sentences if sentence]
    rows = [row for sentence in kept for row in sentence]
    if answers and not rows:
        raise InputError(f"{path}: line {line} begins a document without tokens; remove it")
    words = []
    for row in rows:
        word = row.columns[columns.token - 1]
        if not word:
            raise InputError(f"{path}: line {row.line} has an empty token (column {columns.token})")
        words.append(word)
    speakers: tuple[str, ...] = ()
    if columns.speaker is not None:
        speakers = tuple(row.columns[columns.speaker - 1] or NONE for row in rows)
    numbers = {NONE: 0}
    named = _NAMED.fullmatch(header.strip())
    tokens = iter(map(straighten_english, words))
    return Document(
        (Text.of_sentences([next(tokens) for _ in sentence] for sentence in kept),),
        _read_chains(rows, path=path) if answers else None,
        f"{path}: line {line}",
        Raw.joined(line, words),
        tuple(numbers.setdefault(speaker, len(numbers)) for speaker in speakers),
        name=named[1] if named else header.removeprefix(BEGIN).strip() or "text",
        part=(named[2] if named else None) or "000",
        speakers=speakers,
    )


def _read_chains(rows: Sequence[ColumnRow], *, path: str) -> tuple[Chain, ...]:
    """The chains of a document in the order in which they open.

    In a cell mentions of one token come first, then those that open, then those that close, each from left to right; a
    closing bracket closes what was opened last, as in the reference scorer.
    """
    chains: dict[str, list[Mention | None]] = {}  # None: not closed yet
    opened: dict[str, list[tuple[int, int, int]]] = {}  # where in its chain, from which token, in which line
    for n, (line, cells) in enumerate(rows):
        cell = cells[-1]
        if cell in (NONE, "_", "*"):
            continue
        if not _CELL.fullmatch(cell):
            raise InputError(
                f"{path}: line {line} has {shortened(cell)} in the last column; `(3`, `3)`, `(3)`, `(3)|(4` or `-` is "
                "wanted there"
            )
        brackets = _BRACKET.findall(cell)
        for _, number, _ in (b for b in brackets if b[0] and b[2]):
            chains.setdefault(number, []).append((n, n + 1))
        for _, number, _ in (b for b in brackets if b[0] and not b[2]):
            mentions = chains.setdefault(number, [])
            opened.setdefault(number, []).append((len(mentions), n, line))
            mentions.append(None)
        for _, number, _ in (b for b in brackets if not b[0]):
            if not opened.get(number):
                raise InputError(
                    f"{path}: line {line} closes chain {number[:20]}, of which no mention is open; remove "
                    f"{number[:20]}) or open it before"
                )
            place, start, _ = opened[number].pop()
            chains[number][place] = (start, n + 1)
    left = [(line, number) for number, places in opened.items() for _, _, line in places]
    if left:
        line, number = min(left)
        raise InputError(
            f"{path}: line {line} opens a mention of chain {number[:20]} that the document does not close; "
            f"{number[:20]}) is wanted on its last token"
        )
    return tuple(tuple(mention for mention in mentions if mention) for mentions in chains.values())

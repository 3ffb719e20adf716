"""Column files: one token a line with its labels beside it, a blank line after each sentence; CoNLL-U too."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from elmo.errors import InputError
from elmo.text.lines import read_lines

CONLLU_SUFFIXES = (".conllu", ".conllup")
CONLLU_COLUMNS = 10
DOCUMENT_START = "-DOCSTART-"


class ColumnRow(NamedTuple):
    """The columns of a token, and the line they stand in."""

    line: int
    columns: list[str]


def is_conllu(path: str) -> bool:
    """Whether a file is CoNLL-U by its name."""
    return any(suffix in CONLLU_SUFFIXES for suffix in Path(path).suffixes)


def read_column_sentences(path: str) -> Iterator[list[ColumnRow]]:
    """The sentences of a file. Columns are parted by tabs where there is one, else by white space.

    Left out: comments, multi-word and empty tokens of CoNLL-U; sentences of CoNLL-2003 that are `-DOCSTART-` alone.
    """
    conllu = is_conllu(path)
    sentence: list[ColumnRow] = []
    for number, line in read_lines(path):
        if not line.strip():
            yield from _whole(sentence)
            sentence = []
            continue
        if conllu and line.startswith("#"):
            continue
        columns = line.split("\t") if "\t" in line else line.split()
        if conllu:
            if len(columns) != CONLLU_COLUMNS:
                raise InputError(f"{path}: line {number} has {len(columns)} columns, but CoNLL-U has {CONLLU_COLUMNS}")
            if not columns[0].isdigit():
                continue
        if sentence and len(columns) != len(sentence[0].columns):
            raise InputError(
                f"{path}: line {number} has {len(columns)} columns, but the sentence began with "
                f"{len(sentence[0].columns)} in line {sentence[0].line}; each token wants the same number"
            )
        sentence.append(ColumnRow(number, columns))
    yield from _whole(sentence)


def column(row: ColumnRow, wanted: int, *, path: str, what: str) -> str:
    """A column by its number: from 1, or from -1 at the end."""
    place = wanted - 1 if wanted > 0 else wanted
    if not -len(row.columns) <= place < len(row.columns):
        raise InputError(
            f"{path}: line {row.line} has {len(row.columns)} columns, so there is no column {wanted} for the {what}"
        )
    found = row.columns[place]
    if not found:
        raise InputError(f"{path}: line {row.line} has an empty {what} (column {wanted})")
    return found


def _whole(sentence: list[ColumnRow]) -> Iterator[list[ColumnRow]]:
    if sentence and not (len(sentence) == 1 and sentence[0].columns[0] == DOCUMENT_START):
        yield sentence

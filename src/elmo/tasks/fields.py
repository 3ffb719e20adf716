"""Texts and labels of .csv and .jsonl files, by the names of their fields."""

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from elmo.errors import InputError
from elmo.text.lines import read_lines

CSV, JSON_LINES = ".csv", (".jsonl", ".ndjson")


class Fields(NamedTuple):
    """What the fields of a file are called."""

    texts: tuple[str, ...]
    label: str


class Record(NamedTuple):
    """Texts with their label (None where there is none), and the line they begin in."""

    line: int
    label: str | None
    texts: tuple[str, ...]


def has_fields(path: str) -> bool:
    """Whether a file's name says that its fields have names; a compressed one has its kind before the last dot."""
    return any(suffix.lower() in (CSV, *JSON_LINES) for suffix in Path(path).suffixes[-2:])


def is_json_lines(path: str) -> bool:
    """Whether a file's name says that each of its lines is an object."""
    return any(suffix.lower() in JSON_LINES for suffix in Path(path).suffixes[-2:])


def read_fields_of(path: str, known: Sequence[Fields], *, answers: bool, cure: str) -> Iterator[Record]:
    """The records of a file; without a label only where no `answers` are wanted. Empty lines are left out.

    Of several `known` ways to call the fields it is the first that the first record has. `cure` ends the message where
    a field is missing: how to say what it is called.
    """
    is_csv = any(suffix.lower() == CSV for suffix in Path(path).suffixes[-2:])
    return (_read_csv if is_csv else _read_json)(path, known, answers, cure)


def has_half_characters(text: str) -> bool:
    """Whether a text of JSON has one half of a pair that UTF-16 writes a character as: no file could hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _read_csv(path: str, known: Sequence[Fields], answers: bool, cure: str) -> Iterator[Record]:
    rows = csv.reader((f"{line}\n" for _, line in read_lines(path)), strict=True)
    header: list[str] | None = None
    names = known[0]
    begins = 1
    try:
        for row in rows:
            line, begins = begins, rows.line_num + 1
            if not any(cell.strip() for cell in row):
                continue
            if header is None:
                header = [name.strip() for name in row]
                names = _choose(known, header)
                for name in (*names.texts, names.label) if answers else names.texts:
                    if name not in header:
                        raise InputError(_missing(f"{path}: line {line}", name, header, cure))
                continue
            if len(row) != len(header):
                raise InputError(f"{path}: line {line} has {len(row)} fields, but the header has {len(header)}")
            values = dict(zip(header, row, strict=True))
            yield Record(line, values.get(names.label), tuple(values[name].strip("\n") for name in names.texts))
    except csv.Error as error:
        raise InputError(f"{path}: line {rows.line_num} is not CSV: {error}") from None


def _read_json(path: str, known: Sequence[Fields], answers: bool, cure: str) -> Iterator[Record]:
    names: Fields | None = None
    for number, line in read_lines(path):
        if not line.strip():
            continue
        place = f"{path}: line {number}"
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{place} is not JSON: {' '.join(str(error).split())[:100]}") from None
        if not isinstance(values, dict):
            wanted = ", ".join(map(repr, known[0].texts))
            raise InputError(f"{place} is not an object with the fields {wanted} and {known[0].label!r}")
        if names is None:
            names = _choose(known, list(values))
        for name in names.texts:
            if not isinstance(values.get(name), str):
                raise InputError(_missing(place, name, list(values), cure))
            if has_half_characters(values[name]):
                raise InputError(
                    f"{place} has half of a character (such as \\ud800) in its {name!r}; write it as UTF-8"
                )
        found = values.get(names.label)
        if isinstance(found, int) and not isinstance(found, bool):
            found = str(found)  # labels are often numbers
        if not (isinstance(found, str) or (found is None and not answers)):
            raise InputError(_missing(place, names.label, list(values), cure))
        yield Record(number, found, tuple(values[name] for name in names.texts))


def _choose(known: Sequence[Fields], found: Sequence[str]) -> Fields:
    return next((names for names in known if set(names.texts) <= set(found)), known[0])


def _missing(place: str, name: str, found: list[str], cure: str) -> str:
    there = ", ".join(map(repr, found))[:200]
    return f"{place} has no field {name!r} with a text (there are {there}); {cure}"

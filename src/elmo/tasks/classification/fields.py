"""Texts and labels of .csv and .jsonl files, by the names of their fields."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from elmo.errors import InputError
from elmo.text.lines import read_lines

CSV, JSON_LINES = ".csv", (".jsonl", ".ndjson")


class Record(NamedTuple):
    """A text with its label (None where there is none), and the line it begins in."""

    line: int
    label: str | None
    text: str


def has_fields(path: str) -> bool:
    """Whether a file's name says that its fields have names; a compressed one has its kind before the last dot."""
    return any(suffix.lower() in (CSV, *JSON_LINES) for suffix in Path(path).suffixes[-2:])


def read_fields_of(path: str, *, text: str, label: str, answers: bool) -> Iterator[Record]:
    """The records of a file; without a label only where no `answers` are wanted. Empty lines are left out."""
    is_csv = any(suffix.lower() == CSV for suffix in Path(path).suffixes[-2:])
    return (_read_csv if is_csv else _read_json)(path, text, label, answers)


def _read_csv(path: str, text: str, label: str, answers: bool) -> Iterator[Record]:
    rows = csv.reader((f"{line}\n" for _, line in read_lines(path)), strict=True)
    header: list[str] | None = None
    begins = 1
    try:
        for row in rows:
            line, begins = begins, rows.line_num + 1
            if not any(cell.strip() for cell in row):
                continue
            if header is None:
                header = [name.strip() for name in row]
                for name in (text, label) if answers else (text,):
                    if name not in header:
                        raise InputError(_missing(f"{path}: line {line}", name, header))
                continue
            if len(row) != len(header):
                raise InputError(f"{path}: line {line} has {len(row)} fields, but the header has {len(header)}")
            values = dict(zip(header, row, strict=True))
            yield Record(line, values.get(label), values[text].strip("\n"))
    except csv.Error as error:
        raise InputError(f"{path}: line {rows.line_num} is not CSV: {error}") from None


def _read_json(path: str, text: str, label: str, answers: bool) -> Iterator[Record]:
    for number, line in read_lines(path):
        if not line.strip():
            continue
        place = f"{path}: line {number}"
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{place} is not JSON: {' '.join(str(error).split())[:100]}") from None
        if not isinstance(values, dict):
            raise InputError(f"{place} is not an object with the fields {text!r} and {label!r}")
        if not isinstance(values.get(text), str):
            raise InputError(_missing(place, text, list(values)))
        found = values.get(label)
        if isinstance(found, int) and not isinstance(found, bool):
            found = str(found)  # labels are often numbers
        if not (isinstance(found, str) or (found is None and not answers)):
            raise InputError(_missing(place, label, list(values)))
        yield Record(number, found, values[text])


def _missing(place: str, name: str, found: list[str]) -> str:
    known = ", ".join(map(repr, found))[:200]
    return (
        f"{place} has no field {name!r} with a text (there are {known}); "
        "--set task.text_field=NAME and task.label_field=NAME say what the fields are called"
    )

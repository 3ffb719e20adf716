"""JSON lines: one object a line with its tokens and vectors. Also the format for standard output."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

from elmo.embed.bulk.writers.part import EmbeddedPart
from elmo.embed.bulk.writers.row import Row, Shape


def write_jsonl(parts: Iterable[EmbeddedPart], path: Path, shape: Shape) -> None:
    """One JSON object a line: `line`, `text`, `tokens`, `sentence_starts`, `vectors` (`vector` when pooled).

    Where the input is several files, `file` stands first, and `line` is the number within it.
    """
    with open(path, "w", encoding="utf-8") as file:
        for row in (row for part in parts for row in part.rows()):
            write_row(row, file, shape)


def write_row(row: Row, file: TextIO, shape: Shape) -> None:
    """One object on one line."""
    name = "vector" if shape.pooled else "vectors"
    place: dict[str, Any] = {"file": row.file, "line": row.line} if shape.files else {"line": row.line}
    tokens = {"tokens": row.tokens, "sentence_starts": row.sentence_starts}
    value = {**place, "text": row.text, **tokens, name: row.vectors.tolist()}
    file.write(json.dumps(value) + "\n")

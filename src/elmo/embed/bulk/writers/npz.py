"""npz: arrays `0`, `1`, ... by line; `numpy.load` reads it.

The tokens of a line are `0.tokens`, and the first token of each sentence in it `0.sentence_starts`.
Where the input is several files, lines are numbered through, and two more arrays say where they are from: `files`, the
names, and `file_starts`, the number of the first line of each.
"""

import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.embed.bulk.writers.part import EmbeddedPart
from elmo.embed.bulk.writers.row import Shape


def write_npz(parts: Iterable[EmbeddedPart], path: Path, shape: Shape) -> None:
    """Member by member, so that memory does not grow with the file."""
    starts: dict[str, int] = {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for row in (row for part in parts for row in part.rows()):
            _write_member(archive, f"{row.number}", row.vectors)
            # numpy drops NULs at the end of a string; HDF5's layouts write the same sign for them.
            tokens = [token.replace("\0", "\N{SYMBOL FOR NULL}") for token in row.tokens]
            # One string, since numpy has no array for strings of any length that is read without pickle.
            _write_member(archive, f"{row.number}.tokens", np.array(tokens, dtype=np.str_))
            _write_member(archive, f"{row.number}.sentence_starts", np.array(row.sentence_starts, dtype=np.int32))
            if row.file is not None:
                starts.setdefault(row.file, row.number)
        if shape.files:
            _write_member(archive, "files", np.array(list(starts), dtype=np.str_))
            _write_member(archive, "file_starts", np.array(list(starts.values()), dtype=np.int64))


def _write_member(archive: zipfile.ZipFile, name: str, array: npt.NDArray[Any]) -> None:
    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)

"""`StoredLayer`: the unit vectors of one layer as an index holds them, mapped: to read some of, and to compare with.

M rows (one for each use, in layer 0 one for each word), D dimensions.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.analysis.index.layout import LayerName, distance_file, mean_file, scale_file, vector_file
from elmo.disk.guarded.arrayfiles import map_npy
from elmo.disk.guarded.plainfiles import exists
from elmo.errors import InputError
from elmo.ops.rowproducts import row_products

ROWS_IN_BLOCK = 1 << 16
FEW_NUMBERS = 1 << 19
TINY = 1e-6  # a vector no farther than this from the mean has no direction from there

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class StoredLayer:
    """One layer. `folder` and `name` say where it is, for messages."""

    folder: Path
    name: LayerName
    rows: npt.NDArray[Any]  # [M, D] float16 or int8
    scales: Floats | None  # [M] of int8
    mean: Floats  # [D]
    distances: Floats | None  # [M] from the mean; None while an index is being made

    @classmethod
    def map(cls, folder: Path, name: LayerName, *, mean: Floats | None = None) -> "StoredLayer":
        """The layer of an index that lies in a folder; `mean` while it is being made."""
        rows = map_table(folder / vector_file(name))
        scales = map_table(folder / scale_file(name)) if rows.dtype == np.int8 else None
        if mean is not None:
            return cls(folder, name, rows, scales, mean, None)
        return cls(
            folder, name, rows, scales, map_table(folder / mean_file(name)), map_table(folder / distance_file(name))
        )

    def __len__(self) -> int:
        return len(self.rows)

    def blocks(self) -> Iterator[slice]:
        """All rows, some at a time."""
        for start in range(0, len(self), ROWS_IN_BLOCK):
            yield slice(start, min(start + ROWS_IN_BLOCK, len(self)))

    def vectors(self, rows: slice | npt.NDArray[np.integer[Any]]) -> Floats:
        """Some rows as float32: [n, D]."""
        found = _as_floats(self.rows[rows])
        if self.scales is not None:
            found *= np.asarray(self.scales[rows])[:, None]
        return found

    def cosines(self, vectors: Floats, rows: slice, *, centred: bool) -> Floats:
        """How alike each of Q vectors [Q, D] and some rows are: [Q, n]. `centred`: as seen from the mean."""
        unit = unit_rows(vectors)
        scales = None if self.scales is None else self.scales[rows]
        if not centred:
            found = row_products(self.rows[rows], unit, scales=scales)
        else:
            assert self.distances is not None
            mean = np.asarray(self.mean)
            unit = unit_rows(unit - mean)
            found = row_products(self.rows[rows], unit, scales=scales)
            found -= (unit @ mean)[:, None]
            found /= np.maximum(self.distances[rows], TINY)
        if not np.isfinite(found).all():
            raise InputError(
                f"{self.folder / vector_file(self.name)}: holds numbers that are not finite; build the index again"
            )
        return found


def _as_floats(stored: npt.NDArray[Any]) -> Floats:
    """float16 or int8 numbers as float32: many by torch, where it is loaded and so faster; few without its threads."""
    torch = sys.modules.get("torch")
    if stored.size < FEW_NUMBERS or torch is None:
        return np.asarray(stored, dtype=np.float32)
    found: Floats = torch.from_numpy(np.array(stored)).float().numpy()  # a copy: torch takes none that is read only
    return found


def unit_rows(vectors: npt.NDArray[np.floating[Any]]) -> Floats:
    """Vectors [.., D] of length 1; zeros stay zeros."""
    found = np.asarray(vectors, dtype=np.float32)
    unit: Floats = found / np.maximum(np.linalg.norm(found, axis=-1, keepdims=True), 1e-12)
    return unit


def map_table(path: Path) -> npt.NDArray[Any]:
    """An array of an index, mapped."""
    if not exists(path):
        raise InputError(f"{path}: is missing; build the index again")
    try:
        return map_npy(path)
    except InputError as error:
        raise InputError(f"{error}; build the index again") from None

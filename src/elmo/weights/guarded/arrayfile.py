"""safetensors files as arrays: the header checked by us before a number is read, the numbers mapped, not copied.

NumPy has no bfloat16: such numbers are uint16 here, their bits, which no file of ours has otherwise.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from elmo.disk.guarded.plainfiles import one_line, shortened
from elmo.disk.guarded.tensorheader import Entry, read_entries
from elmo.errors import WeightsError

Numbers = npt.NDArray[Any]

MOST_HEADER_BYTES = 1 << 20  # a model has some forty tensors, about a hundred bytes each
HEADER_UNIT = 8  # bytes; the numbers behind a header are aligned
TYPES: dict[str, type[np.generic]] = {
    "F32": np.float32,
    "F16": np.float16,
    "BF16": np.uint16,
    "I8": np.int8,  # weights in eight bits: see `quantized`
    "U8": np.uint8,  # text
}
NAMES = {np.dtype(kind): name for name, kind in TYPES.items()}
FLOATS = ("F32", "F16", "BF16")


class ArrayInfo(NamedTuple):
    """What the header says of one array: its type as safetensors calls it, and its shape."""

    dtype: str
    shape: tuple[int, ...]


def read_header(path: Path) -> dict[str, ArrayInfo]:
    """Name, type and shape of each array. Checks that the arrays fill the rest of the file, one after the other."""
    return {name: ArrayInfo(entry.dtype, entry.shape) for name, entry in _read_entries(path).items()}


def _read_entries(path: Path) -> dict[str, Entry]:
    sizes = {name: np.dtype(kind).itemsize for name, kind in TYPES.items()}
    return read_entries(path, sizes, most_bytes=MOST_HEADER_BYTES, refusal=WeightsError)[0]


class StoredFile:
    """A file whose header has been read, and whose arrays can be mapped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._entries = _read_entries(path)
        self.header = {name: ArrayInfo(entry.dtype, entry.shape) for name, entry in self._entries.items()}

    def arrays(self, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Numbers]:
        """Exactly the arrays named in `shapes`. What is written into one never reaches the file."""
        path, entries = self._path, self._entries
        unknown = sorted(entries.keys() - shapes.keys())
        if unknown:
            raise WeightsError(f"{path}: {shortened(unknown[0])}: is not a tensor of this model")
        for name, shape in shapes.items():
            if name not in entries:
                raise WeightsError(f"{path}: {name}: is missing, but {list(shape)} is wanted")
            if entries[name].shape != shape:
                raise WeightsError(
                    f"{path}: {name}: found {shortened(list(entries[name].shape))}, but {list(shape)} is wanted"
                )
        try:
            whole = np.memmap(path, np.uint8, mode="c").view(np.ndarray)
        except (OSError, ValueError) as error:
            raise WeightsError(f"{path}: cannot be read ({one_line(error)})") from None
        begin = len(whole) - max((entry.stop for entry in entries.values()), default=0)
        return {name: _view(whole[begin:], entries[name]) for name in shapes}


def _view(numbers: npt.NDArray[np.uint8], entry: Entry) -> Numbers:
    array: Numbers = numbers[entry.start : entry.stop].view(TYPES[entry.dtype]).reshape(entry.shape)
    return array


def read_stored(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Numbers]:
    """Exactly the arrays named in `shapes`, mapped from the file."""
    return StoredFile(path).arrays(shapes)


def write_arrays(path: Path, arrays: Mapping[str, Numbers]) -> None:
    """Write a safetensors file and make it durable. Each array is asked for once, so that few need to be in memory."""
    described = {name: ArrayInfo(NAMES[np.dtype(arrays[name].dtype)], arrays[name].shape) for name in arrays}
    # The library's order: wide numbers first, so that all are aligned.
    order = sorted(described, key=lambda name: (-_itemsize(described[name]), name))
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name in order:
        dtype, shape = described[name]
        start, end = end, end + _itemsize(described[name]) * int(np.prod(shape, dtype=np.int64))
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    text += b" " * (-len(text) % HEADER_UNIT)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in order:
            file.write(np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data)
        file.flush()
        os.fsync(file.fileno())


def _itemsize(info: ArrayInfo) -> int:
    return np.dtype(TYPES[info.dtype]).itemsize


def from_bfloat16(bits: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
    """Numbers in bfloat16 as float32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def to_bfloat16(numbers: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    """Numbers in float32 rounded to bfloat16, ties to even."""
    bits = np.ascontiguousarray(numbers, dtype=np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(numbers), 0x7FC0, rounded).astype(np.uint16)

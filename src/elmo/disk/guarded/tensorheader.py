"""The header of a safetensors file, checked by us before a number is read. Knows no library of numbers."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from elmo.disk.guarded.plainfiles import Refusal, parse_json, require_file, shortened


class Entry(NamedTuple):
    """A tensor as the header has it."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int


def read_entries(
    path: Path, sizes: Mapping[str, int], *, most_bytes: int, refusal: Refusal
) -> tuple[dict[str, Entry], dict[str, str]]:
    """Each tensor by name, and what is told besides. The tensors must fill the file, one after the other.

    `sizes` are the types that are read and the bytes of a number; a longer header than `most_bytes` is refused.
    """
    size = require_file(path, refusal=refusal)
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or not 2 <= length <= min(most_bytes, size - 8):
            raise refusal(
                f"{path}: the header has {length:,} bytes, but 2 to {most_bytes:,} of the file's {size:,} are "
                "wanted; it is damaged or not a safetensors file"
            )
        header = parse_json(file.read(length), where=f"{path}: header", most_bytes=most_bytes, refusal=refusal)
    metadata = header.pop("__metadata__", None) or {}
    if not isinstance(metadata, dict) or not all(isinstance(text, str) for text in metadata.values()):
        raise refusal(f"{path}: __metadata__ is {shortened(metadata)}, but texts by name are wanted")
    entries = {
        name: _read_entry(value, sizes, where=f"{path}: {shortened(name)}", refusal=refusal)
        for name, value in header.items()
    }
    end = 0
    for name, entry in sorted(entries.items(), key=lambda entry: entry[1][2:]):
        if entry.start != end:
            raise refusal(f"{path}: {shortened(name)}: begins at byte {entry.start}, but {end} is wanted")
        end = entry.stop
    if end != size - 8 - length:
        raise refusal(f"{path}: has {size - 8 - length:,} bytes of tensors, but {end:,} are wanted; it is damaged")
    return entries, metadata


def _read_entry(entry: Any, sizes: Mapping[str, int], *, where: str, refusal: Refusal) -> Entry:
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise refusal(f"{where}: found {shortened(entry)}, but dtype, shape and data_offsets are wanted")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in sizes:
        raise refusal(f"{where}: dtype is {shortened(dtype)}, but one of {', '.join(sizes)} is wanted")
    if not _are_sizes(shape) or len(shape) > 8:
        raise refusal(f"{where}: shape is {shortened(shape)}, but a list of sizes is wanted")
    if not _are_sizes(offsets) or len(offsets) != 2:
        raise refusal(f"{where}: data_offsets is {shortened(offsets)}, but two positions are wanted")
    start, stop = offsets
    length = math.prod(shape) * sizes[dtype]
    if stop - start != length:
        raise refusal(
            f"{where}: has {stop - start} bytes, but {length} are wanted for {dtype} {shortened(list(shape))}"
        )
    return Entry(dtype, tuple(shape), start, stop)


def _are_sizes(values: Any) -> bool:
    return isinstance(values, list) and all(type(v) is int and 0 <= v < 1 << 62 for v in values)

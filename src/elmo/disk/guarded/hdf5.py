"""Datasets from an HDF5 file that may have been made to harm: every property is checked before a number is read.

An HDF5 file can point into other files (external storage, external and soft links, virtual datasets), declare far more
than it holds, and run filters of the library on crafted bytes. Here a dataset is read only if it hangs on hard links,
lies in this file, is stored in full, and has exactly the wanted shape and a floating type. Compressed chunks are
unpacked here, with a bound, so that no filter code of the library sees them. [CVE-2026-1669, CVE-2026-26200]
"""

import contextlib
import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from elmo.disk.guarded.plainfiles import one_line, require_file, shortened
from elmo.errors import WeightsError

Floats = npt.NDArray[np.float32]
FILTERS = {
    h5py.h5z.FILTER_DEFLATE: "gzip",
    h5py.h5z.FILTER_SHUFFLE: "shuffle",
    h5py.h5z.FILTER_FLETCHER32: "fletcher32",
}
SMALL_CHUNK_BYTES = 1 << 20  # a chunk may be larger than its dataset, but not than this


class _MissingError(WeightsError):
    """A name that is not in the file."""


class Datasets:
    """An HDF5 file seen as names and arrays of float32."""

    def __init__(self, file: Any, path: Path) -> None:
        self._file = file
        self._path = path

    def check(self, names: tuple[str, ...], shape: tuple[int, ...]) -> str:
        """Which of the alternative `names` is there. Fails unless it is harmless and has exactly `shape`."""
        name = next((name for name in names if self.has(name)), names[0])
        try:
            dataset = self._find(name)
        except _MissingError:
            raise WeightsError(f"{self._path}: {name}: is missing, but {shape} is wanted") from None
        _check(dataset, shape, where=f"{self._path}: {name}")
        return name

    def shape(self, name: str) -> tuple[int, ...]:
        """The declared shape, not to be trusted beyond comparing it."""
        return tuple(self._find(name).shape or ())

    def read(self, name: str, shape: tuple[int, ...], out: Floats | None = None) -> Floats:
        """The dataset as float32, if it is harmless and has exactly `shape`."""
        dataset = self._find(name)
        where = f"{self._path}: {name}"
        _check(dataset, shape, where=where)
        out = np.zeros(shape, np.float32) if out is None else out
        if math.prod(shape) == 0:
            return out
        try:
            if dataset.chunks is None:
                dataset.read_direct(out)
            else:
                _read_chunks(dataset, out, where=where)
        except (OSError, RuntimeError, ValueError, TypeError, KeyError, zlib.error) as error:
            raise WeightsError(f"{where}: cannot be read ({one_line(error)})") from None
        return out

    def has(self, name: str) -> bool:
        """Whether there is something of that name."""
        try:
            self._find(name)
        except _MissingError:
            return False
        return True

    def _find(self, name: str) -> Any:
        """The dataset at a path of hard links."""
        found = self._file
        walked = ""
        for part in name.split("/"):
            walked = f"{walked}/{part}".lstrip("/")
            where = f"{self._path}: {walked}"
            try:
                # Asked of the link itself: `part in group` would follow it, out of the file if it leads there.
                if not isinstance(found, h5py.Group) or not found.id.links.exists(part.encode()):
                    raise _MissingError(f"{self._path}: {name}: is missing")
                if found.id.links.get_info(part.encode()).type != h5py.h5l.TYPE_HARD:
                    raise WeightsError(f"{where}: found a soft or external link, but only hard links are followed")
                found = found[part]
            except (OSError, RuntimeError, ValueError, TypeError, KeyError) as error:
                raise WeightsError(f"{where}: cannot be opened ({one_line(error)})") from None
        if not isinstance(found, h5py.Dataset):
            raise WeightsError(f"{self._path}: {name}: found a {type(found).__name__}, but a dataset is wanted")
        return found


@contextlib.contextmanager
def open_hdf5(path: Path) -> Iterator[Datasets]:
    """Open a file for reading only."""
    require_file(path)
    try:
        file = h5py.File(path, "r")
    except (OSError, RuntimeError, ValueError, TypeError, KeyError) as error:
        raise WeightsError(f"{path}: is not a readable HDF5 file ({one_line(error)})") from None
    with contextlib.closing(file):
        yield Datasets(file, path)


def _check(dataset: Any, shape: tuple[int, ...], *, where: str) -> None:
    """Everything that can be known without reading."""
    try:
        found = dataset.shape
        dtype = dataset.dtype
        plist = dataset.id.get_create_plist()
        layout = plist.get_layout()
        external = plist.get_external_count()
        filters = [plist.get_filter(n)[0] for n in range(plist.get_nfilters())]
        stored = dataset.id.get_storage_size()
    except (OSError, RuntimeError, ValueError, TypeError, KeyError) as error:
        raise WeightsError(f"{where}: cannot be opened ({one_line(error)})") from None
    if found != shape:
        raise WeightsError(f"{where}: found shape {shortened(found)}, but {shape} is wanted")
    if dtype.kind != "f" or dtype.itemsize not in (2, 4, 8):
        raise WeightsError(f"{where}: found type {shortened(str(dtype))}, but float32 (or float16, float64) is wanted")
    if external or layout == h5py.h5d.VIRTUAL:
        raise WeightsError(f"{where}: its numbers lie in another file, which is not followed; copy them into this one")
    unknown = [n for n in filters if n not in FILTERS]
    if unknown:
        raise WeightsError(f"{where}: found filter {unknown[0]}, but only {', '.join(FILTERS.values())} are read")
    size = math.prod(shape) * dtype.itemsize
    if layout != h5py.h5d.CHUNKED and stored != size:
        raise WeightsError(f"{where}: holds {stored:,} bytes, but {size:,} are wanted; the file is incomplete")
    if layout == h5py.h5d.CHUNKED:
        chunk = math.prod(dataset.chunks) * dtype.itemsize
        if chunk > max(size, SMALL_CHUNK_BYTES):
            raise WeightsError(f"{where}: found chunks of {chunk:,} bytes in a dataset of {size:,}")


def _read_chunks(dataset: Any, out: Floats, *, where: str) -> None:
    """Fill `out` chunk by chunk from the raw bytes."""
    plist = dataset.id.get_create_plist()
    filters = [plist.get_filter(n)[0] for n in range(plist.get_nfilters())]
    chunks: tuple[int, ...] = dataset.chunks
    grid = [range(0, size, step) for size, step in zip(dataset.shape, chunks, strict=True)]
    wanted = math.prod(map(len, grid))
    found = dataset.id.get_num_chunks()
    if found != wanted:
        raise WeightsError(f"{where}: holds {found} chunks, but {wanted} are wanted; the file is incomplete")
    for number in range(wanted):
        place = dataset.id.get_chunk_info(number)
        offset = tuple(place.chunk_offset)
        size = math.prod(chunks) * dataset.dtype.itemsize
        if len(offset) != len(grid) or any(o not in r for o, r in zip(offset, grid, strict=True)):
            raise WeightsError(f"{where}: found a chunk at {shortened(offset)}, outside the dataset")
        if place.size > size + size // 8 + 1024:  # deflate and a checksum lengthen incompressible bytes a little
            raise WeightsError(f"{where}: found a chunk of {place.size:,} bytes, but at most {size:,} are wanted")
        mask, raw = dataset.id.read_direct_chunk(offset)
        values = _unpack(raw, [f for n, f in enumerate(filters) if not mask >> n & 1], size, dataset.dtype, where=where)
        target = out[tuple(slice(o, o + c) for o, c in zip(offset, chunks, strict=True))]
        target[...] = values.reshape(chunks)[tuple(slice(0, n) for n in target.shape)]


def _unpack(raw: bytes, filters: list[int], size: int, dtype: np.dtype[Any], *, where: str) -> npt.NDArray[Any]:
    """Undo the filters of one chunk, last one first."""
    for number in reversed(filters):
        if number == h5py.h5z.FILTER_FLETCHER32:
            raw = raw[:-4]
        elif number == h5py.h5z.FILTER_DEFLATE:
            raw = zlib.decompressobj().decompress(raw, size + 5)  # room for a checksum, and one byte to see too many
        else:
            raw = np.frombuffer(raw, np.uint8).reshape(dtype.itemsize, -1).T.tobytes()
    if len(raw) != size:
        raise WeightsError(f"{where}: found a chunk of {len(raw):,} bytes, but {size:,} are wanted")
    return np.frombuffer(raw, dtype)

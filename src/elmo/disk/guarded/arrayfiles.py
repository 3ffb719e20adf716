"""NumPy's files from strangers: .npy mapped, .npz read. What they declare is checked before a number is touched.

No pickles: an array of objects is refused. NumPy reads a header as Python, and says whatever Python says of a bad one.
"""

import math
import zipfile
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from elmo.disk.guarded.archives import UNREADABLE, check_directory
from elmo.disk.guarded.plainfiles import Refusal, one_line, require_file
from elmo.errors import InputError

MOST_MEMBERS = 1000
MOST_DIRECTORY_BYTES = 1 << 20
# Numbers pack to a half or a tenth. Deflate can go to a thousandth, which nothing but an attack does.
MOST_PACKED = 200
ALWAYS_UNPACKED_BYTES = 64 << 20

Array = npt.NDArray[Any]


class _Header(NamedTuple):
    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]


def map_npy(path: Path, *, refusal: Refusal = InputError) -> Array:
    """The array of an .npy file, mapped and not to be written; it must fill the file exactly."""
    size = require_file(path, refusal=refusal)
    with open(path, "rb") as file:
        header = _read_header(file, where=str(path), refusal=refusal)
        start = file.tell()
    _require_bytes(header, size - start, where=str(path), refusal=refusal)
    if size == start:  # an empty map is none
        return np.empty(header.shape, header.dtype)
    flat: Array = np.memmap(path, mode="r", dtype=header.dtype, offset=start)
    return flat.reshape(header.shape, order="F" if header.fortran else "C")


def read_npz(path: Path, names: tuple[str, ...], *, refusal: Refusal = InputError) -> dict[str, Array]:
    """Some arrays of an .npz file."""
    size = require_file(path, refusal=refusal)
    check_directory(path, most_members=MOST_MEMBERS, most_bytes=MOST_DIRECTORY_BYTES, refusal=refusal)
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: read_member(archive, name, path, size=size, refusal=refusal) for name in names}
    except UNREADABLE as error:
        raise refusal(f"{path}: cannot be read as .npz ({one_line(error)})") from None


def read_member(archive: zipfile.ZipFile, name: str, path: Path, *, size: int, refusal: Refusal) -> Array:
    """One array of an open .npz file of `size` bytes."""
    where = f"{path}: {name}"
    if f"{name}.npy" not in archive.namelist():
        raise refusal(f"{path}: has no array {name!r}")
    member = archive.getinfo(f"{name}.npy")
    if member.file_size > max(ALWAYS_UNPACKED_BYTES, MOST_PACKED * size):
        raise refusal(f"{where}: has {member.file_size:,} bytes in a file of {size:,}, which is more than is unpacked")
    with archive.open(member) as file:
        header = _read_header(file, where=where, refusal=refusal)
        content = file.read(member.file_size + 1)
    _require_bytes(header, len(content), where=where, refusal=refusal)
    found = np.frombuffer(content, header.dtype)
    return found.reshape(header.shape, order="F" if header.fortran else "C")


def _read_header(file: Any, *, where: str, refusal: Refusal) -> _Header:
    try:
        shape, fortran, dtype = _parse_header(file)
    except Exception as error:  # NumPy lets through what its reading of Python raises, which is almost anything
        raise refusal(f"{where}: is not an array of NumPy's ({one_line(error)})") from None
    if dtype.hasobject or dtype.itemsize == 0 or dtype.names is not None or dtype.subdtype is not None:
        raise refusal(f"{where}: holds {one_line(ValueError(dtype))}, but plain numbers or texts are wanted")
    if len(shape) > 8 or any(type(n) is not int or not 0 <= n < 1 << 62 for n in shape):
        raise refusal(f"{where}: has a shape that no array has")
    return _Header(shape, fortran, dtype)


def _parse_header(file: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(file)
    raise ValueError(f"version {version} of the format is not read")


def _require_bytes(header: _Header, found: int, *, where: str, refusal: Refusal) -> None:
    wanted = math.prod(header.shape) * header.dtype.itemsize
    if found != wanted:
        raise refusal(f"{where}: has {found:,} bytes of numbers, but {wanted:,} are wanted; it is damaged")

"""Arrays of a work that may be interrupted and taken up again: safetensors with a hash of all that they hold.

No torch here: the processes that build a corpus do without it.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors.numpy
from safetensors import SafetensorError

from elmo.disk.guarded.plainfiles import Refusal, one_line, parse_json
from elmo.disk.guarded.tensorheader import read_entries

ITEM_BYTES = {"I8": 1, "U8": 1, "U16": 2, "U32": 4, "I32": 4, "I64": 8, "F16": 2, "F32": 4, "F64": 8}
CODES = {"i1": "I8", "u1": "U8", "u2": "U16", "u4": "U32", "i4": "I32", "i8": "I64"}
CODES |= {"f2": "F16", "f4": "F32", "f8": "F64"}
MOST_HEADER_BYTES = 64 << 20
ABOUT, SHA256 = "about", "sha256"  # one entry of metadata, since the library writes several in any order

Arrays = dict[str, npt.NDArray[Any]]


def dump_arrays(arrays: Arrays, about: Mapping[str, Any]) -> bytes:
    """A file for `read_arrays`; `about` are values of JSON."""
    return b"".join(dumped_arrays(arrays, about))


def dumped_arrays(arrays: Arrays, about: Mapping[str, Any]) -> Iterator[bytes | memoryview]:
    """The same in pieces, for arrays that are large: those that are contiguous are not copied."""
    told = {**about, SHA256: _sha256(arrays, about)}
    header: dict[str, Any] = {"__metadata__": {ABOUT: json.dumps(told)}}
    names = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))  # each begins where its type may
    end = 0
    for name in names:
        array = arrays[name]
        begin, end = end, end + array.nbytes
        dtype = CODES[array.dtype.newbyteorder("=").str[1:]]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode("ascii")
    text = text.ljust(-(-len(text) // 8) * 8)
    yield len(text).to_bytes(8, "little") + text
    for name in names:
        yield _bytes_of(arrays[name])


def read_about(path: Path, *, refusal: Refusal) -> dict[str, Any]:
    """What was told besides the arrays, without reading these."""
    _, metadata = read_entries(path, ITEM_BYTES, most_bytes=MOST_HEADER_BYTES, refusal=refusal)
    content = metadata.get(ABOUT, "{}").encode("utf-8", "replace")
    return parse_json(content, where=f"{path}: {ABOUT}", most_bytes=MOST_HEADER_BYTES, refusal=refusal)


def read_arrays(path: Path, *, refusal: Refusal) -> tuple[Arrays, dict[str, Any]]:
    """All arrays, and what was told besides. A single changed bit is noticed."""
    about = read_about(path, refusal=refusal)
    try:
        arrays: Arrays = safetensors.numpy.load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise refusal(f"{path}: cannot be read ({one_line(error)})") from None
    if about.get(SHA256) != _sha256(arrays, about):
        raise refusal(f"{path}: is not what was written there; it is damaged")
    return arrays, about


def _sha256(arrays: Arrays, about: Mapping[str, Any]) -> str:
    told = json.dumps({name: value for name, value in about.items() if name != SHA256}, sort_keys=True)
    digest = hashlib.sha256(told.encode("ascii"))
    for name in sorted(arrays):
        digest.update(f"{name}{arrays[name].dtype.str}{list(arrays[name].shape)}\n".encode("utf-8", "replace"))
        digest.update(_bytes_of(arrays[name]))
    return digest.hexdigest()


def _bytes_of(array: npt.NDArray[Any]) -> memoryview:
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return np.ascontiguousarray(little).reshape(-1).view(np.uint8).data

"""safetensors files: the header checked by us before a number is read, the numbers mapped into memory, not copied."""

import hashlib
import math
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import safetensors.numpy
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from elmo.errors import WeightsError
from elmo.weights.plainfiles import Refusal, one_line, parse_json, require_file, shortened

MOST_HEADER_BYTES = 1 << 20  # a model has some forty tensors, about a hundred bytes each
DTYPES = {
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I8": torch.int8,  # weights in eight bits: see `quantized`
    "U8": torch.uint8,  # text
}
# Of works that are interrupted and taken up again: see `read_arrays`.
ITEM_BYTES = {"U8": 1, "U16": 2, "U32": 4, "I32": 4, "I64": 8, "F16": 2, "F32": 4}
MOST_METADATA_BYTES = 64 << 20
SHA256 = "sha256"

Arrays = dict[str, npt.NDArray[Any]]


class _Entry(NamedTuple):
    """A tensor as the header has it."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int


class TensorInfo(NamedTuple):
    """What the header says of one tensor."""

    dtype: torch.dtype
    shape: tuple[int, ...]


def read_header(path: Path) -> dict[str, TensorInfo]:
    """Name, type and shape of each tensor. Checks that the tensors fill the rest of the file, one after the other."""
    sizes = {name: dtype.itemsize for name, dtype in DTYPES.items()}
    entries, _ = _read_entries(path, sizes, most_bytes=MOST_HEADER_BYTES, refusal=WeightsError)
    return {name: TensorInfo(DTYPES[dtype], shape) for name, (dtype, shape, _, _) in entries.items()}


def read_metadata(path: Path, *, refusal: Refusal) -> dict[str, str]:
    """What `write_arrays` was told besides the arrays, without reading these."""
    return _read_entries(path, ITEM_BYTES, most_bytes=MOST_METADATA_BYTES, refusal=refusal)[1]


def read_arrays(path: Path, *, refusal: Refusal) -> tuple[Arrays, dict[str, str]]:
    """All arrays of a file of `write_arrays`, and what was told besides. A single changed bit is noticed."""
    metadata = read_metadata(path, refusal=refusal)
    try:
        arrays: Arrays = safetensors.numpy.load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise refusal(f"{path}: cannot be read ({one_line(error)})") from None
    if metadata.get(SHA256) != _sha256(arrays, metadata):
        raise refusal(f"{path}: is not what was written there; it is damaged")
    return arrays, metadata


def dump_arrays(arrays: Arrays, metadata: Mapping[str, str]) -> bytes:
    """A file for `read_arrays`, with a hash of all that it holds."""
    return safetensors.numpy.save(arrays, metadata={**metadata, SHA256: _sha256(arrays, metadata)})


def _sha256(arrays: Arrays, metadata: Mapping[str, str]) -> str:
    digest = hashlib.sha256(repr(sorted((k, v) for k, v in metadata.items() if k != SHA256)).encode("utf-8", "replace"))
    for name in sorted(arrays):
        digest.update(f"{name}{arrays[name].dtype.str}{list(arrays[name].shape)}\n".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def _read_entries(
    path: Path, sizes: Mapping[str, int], *, most_bytes: int, refusal: Refusal
) -> tuple[dict[str, _Entry], dict[str, str]]:
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


def read_tensors(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Tensor]:
    """Exactly the tensors named in `shapes`, mapped from the file.

    The mapping is private: what is written into a tensor never reaches the file.
    """
    header = read_header(path)
    unknown = sorted(header.keys() - shapes.keys())
    if unknown:
        raise WeightsError(f"{path}: {shortened(unknown[0])}: is not a tensor of this model")
    for name, shape in shapes.items():
        if name not in header:
            raise WeightsError(f"{path}: {name}: is missing, but {list(shape)} is wanted")
        if header[name].shape != shape:
            raise WeightsError(f"{path}: {name}: found {_sizes(header[name].shape)}, but {list(shape)} is wanted")
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in shapes}
    except (SafetensorError, OSError, RuntimeError) as error:
        raise WeightsError(f"{path}: cannot be read ({one_line(error)})") from None


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write a safetensors file and make it durable."""
    seen: set[int] = set()
    whole: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        # Two names for one memory (a softmax tied to the word vectors) are written twice; the format knows no sharing.
        memory = tensor.untyped_storage().data_ptr()
        shared = memory in seen
        seen.add(memory)
        whole[name] = tensor.clone() if shared else tensor.contiguous()
    path.touch()
    readers = stat.S_IMODE(path.stat().st_mode)
    try:
        save_file(whole, path, metadata={"format": "pt"})
    except SafetensorError as error:
        raise _system_error(error) from error
    path.chmod(readers)  # from 0.8 on the library leaves a file that only its owner may read
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def _system_error(error: SafetensorError) -> OSError:
    """What the system said, which the library hides in its text: a full disk must be known for one."""
    found = re.search(r"\(os error (\d+)\)", str(error))
    return OSError(one_line(error)) if found is None else OSError(int(found[1]), os.strerror(int(found[1])))


def _read_entry(entry: Any, sizes: Mapping[str, int], *, where: str, refusal: Refusal) -> _Entry:
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
        raise refusal(f"{where}: has {stop - start} bytes, but {length} are wanted for {dtype} {_sizes(shape)}")
    return _Entry(dtype, tuple(shape), start, stop)


def _are_sizes(values: Any) -> bool:
    return isinstance(values, list) and all(type(v) is int and 0 <= v < 1 << 62 for v in values)


def _sizes(shape: Any) -> str:
    return shortened(list(shape))

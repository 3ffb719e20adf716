"""safetensors files: the header checked by us before a number is read, the numbers mapped into memory, not copied."""

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from elmo.disk.guarded.plainfiles import one_line, shortened
from elmo.disk.guarded.tensorheader import read_entries
from elmo.errors import WeightsError

MOST_HEADER_BYTES = 1 << 20  # a model has some forty tensors, about a hundred bytes each
DTYPES = {
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I8": torch.int8,  # weights in eight bits: see `quantized`
    "U8": torch.uint8,  # text
}


class TensorInfo(NamedTuple):
    """What the header says of one tensor."""

    dtype: torch.dtype
    shape: tuple[int, ...]


def read_header(path: Path) -> dict[str, TensorInfo]:
    """Name, type and shape of each tensor. Checks that the tensors fill the rest of the file, one after the other."""
    sizes = {name: dtype.itemsize for name, dtype in DTYPES.items()}
    entries, _ = read_entries(path, sizes, most_bytes=MOST_HEADER_BYTES, refusal=WeightsError)
    return {name: TensorInfo(DTYPES[dtype], shape) for name, (dtype, shape, _, _) in entries.items()}


def read_tensors(
    path: Path, shapes: Mapping[str, tuple[int, ...]], *, header: Mapping[str, TensorInfo] | None = None
) -> dict[str, Tensor]:
    """Exactly the tensors named in `shapes`, mapped from the file; `header` as `read_header` gave it to the caller.

    The mapping is private: what is written into a tensor never reaches the file.
    """
    header = read_header(path) if header is None else header
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


def _sizes(shape: Any) -> str:
    return shortened(list(shape))

"""safetensors files as torch's tensors, for what training keeps: read as arrays are, written by the library."""

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from elmo.disk.guarded.plainfiles import one_line
from elmo.weights.guarded.arrayfile import Numbers, StoredFile


def read_tensors(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Tensor]:
    """Exactly the tensors named in `shapes`, mapped from the file.

    The mapping is private: what is written into a tensor never reaches the file.
    """
    file = StoredFile(path)
    return {name: _tensor(array, file.header[name].dtype) for name, array in file.arrays(shapes).items()}


def _tensor(array: Numbers, dtype: str) -> Tensor:
    if dtype == "BF16":
        return torch.from_numpy(array.view("i2")).view(torch.bfloat16)
    return torch.from_numpy(array)


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

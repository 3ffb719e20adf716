"""An HDF5 file that takes its name only when it is complete."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py

from elmo.disk.writing import atomic_path
from elmo.errors import ConfigError


@contextmanager
def hdf5_output(path: str | os.PathLike[str]) -> Iterator[h5py.File]:
    """A new HDF5 file to write; it replaces `path` when the block ends well and leaves no trace when it does not."""
    target = Path(path)
    if not target.parent.is_dir():
        raise ConfigError(f"{target.parent}: is not a directory; make it first")
    with atomic_path(target) as temporary, h5py.File(temporary, "w") as file:
        yield file

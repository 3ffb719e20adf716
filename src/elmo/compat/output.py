"""An HDF5 file that takes its name only when it is complete."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py

from elmo.errors import ConfigError


@contextmanager
def hdf5_output(path: str | os.PathLike[str]) -> Iterator[h5py.File]:
    """A new HDF5 file to write; it replaces `path` when the block ends well and leaves no trace when it does not."""
    target = Path(path)
    if not target.parent.is_dir():
        raise ConfigError(f"{target.parent}: is not a directory; make it first")
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with h5py.File(temporary, "w") as file:
            yield file
        with open(temporary, "rb+") as written:
            os.fsync(written.fileno())
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)

"""HDF5 files of vectors, in the layouts of bilm-tf and AllenNLP: the dataset of a line is read when it is asked for.

Numbers go through our own checks. Tokens are attributes, which only HDF5's library can read, and a file that was made
to harm can keep it busy for ever: this format is for files of one's own (SECURITY.md).
"""

from pathlib import Path
from typing import Any

import h5py
import numpy as np

from elmo.disk.guarded.hdf5 import Datasets
from elmo.disk.guarded.plainfiles import one_line, require_file
from elmo.embed.bulk.readers.inferring import is_pooled
from elmo.embed.bulk.readers.vectorfile import VectorFile, VectorLine
from elmo.errors import InputError, WeightsError

UNREADABLE = (OSError, RuntimeError, ValueError, TypeError, KeyError)
MOST_DIMENSIONS = 3


class Hdf5File(VectorFile):
    """Datasets `0`, `1`, ...; vectors come as float32. Files of other programs have no tokens, which are then empty."""

    def __init__(self, path: Path) -> None:
        require_file(path, refusal=InputError)
        self.path = path
        try:
            self._file = h5py.File(path, "r")
            self._count = len(self._file) - ("sentence_to_index" in self._file)
        except UNREADABLE as error:
            raise InputError(f"{path}: is not a readable HDF5 file ({one_line(error)})") from None
        self._datasets = Datasets(self._file, path)
        self.pooled = is_pooled(self)

    def __len__(self) -> int:
        return self._count

    def _line(self, number: int) -> VectorLine:
        try:
            shape = self._datasets.shape(str(number))
            if not 1 <= len(shape) <= MOST_DIMENSIONS:
                raise InputError(f"{self.path}: {number}: has {len(shape)} dimensions, which no line of vectors has")
            vectors = self._datasets.read(str(number), shape)
        except WeightsError as error:
            raise InputError(str(error)) from None
        about = self._about(number)
        tokens = [str(token) for token in np.ravel(about.get("tokens", []))]
        return VectorLine(
            number=number,
            text=None,
            file=str(about["file"]) if "file" in about else None,
            line=int(about.get("line", number)),
            tokens=tokens,
            sentence_starts=[int(start) for start in np.ravel(about.get("sentence_starts", []))],
            vectors=vectors,
        )

    def _about(self, number: int) -> dict[str, Any]:
        try:
            return dict(self._file[str(number)].attrs)
        except UNREADABLE as error:
            raise InputError(f"{self.path}: {number}: cannot be read ({one_line(error)})") from None

    def _token_counts(self) -> list[int]:
        if self.pooled:
            return [1] * len(self)
        return [self._datasets.shape(str(number))[-2] for number in range(len(self))]

    def close(self) -> None:
        self._file.close()

"""Files in pieces: what numpy and hashlib say of them, and errors with the file's name."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from elmo.disk.guarded.plainfiles import file_sha256
from elmo.disk.hashed import ArrayFile, HashedFile
from elmo.errors import ElmoError


@pytest.mark.parametrize("shape", [(0,), (10,), (10, 48)])
def test_an_array_in_pieces_is_what_numpy_saves(tmp_path: Path, shape: tuple[int, ...]) -> None:
    values = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    with ArrayFile(tmp_path / "pieces.npy", dtype=values.dtype, shape=shape) as file:
        file.append(values[:3])
        file.append(values[3:])
    np.save(tmp_path / "whole.npy", values)
    assert (tmp_path / "pieces.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()
    assert file.sha256 == file_sha256(tmp_path / "whole.npy")


def test_too_few_rows_are_noticed(tmp_path: Path) -> None:
    with (
        pytest.raises(ValueError, match="2 rows written where 3 were announced"),
        ArrayFile(tmp_path / "a.npy", dtype=np.dtype("i4"), shape=(3,)) as file,
    ):
        file.append(np.zeros(2))


def test_rows_of_another_shape_are_noticed(tmp_path: Path) -> None:
    with (
        pytest.raises(ValueError, match="rows of shape"),
        ArrayFile(tmp_path / "a.npy", dtype=np.dtype("i4"), shape=(3, 2)) as file,
    ):
        file.append(np.zeros((3, 1)))


def test_the_hash_is_that_of_the_content(tmp_path: Path) -> None:
    with HashedFile(tmp_path / "file") as file:
        file.write(b"one")
        file.write(b"two")
    assert file.sha256 == hashlib.sha256(b"onetwo").hexdigest() == file_sha256(tmp_path / "file")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ElmoError, match="nowhere/file: cannot be written: No such file"):
        HashedFile(tmp_path / "nowhere" / "file")

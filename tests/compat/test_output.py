"""HDF5 files that are there whole or not at all."""

import h5py
import pytest

from elmo.compat.output import hdf5_output
from elmo.errors import ConfigError


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "out.hdf5"
    with hdf5_output(path) as file:
        file["a"] = [1.0]
    with pytest.raises(TypeError), hdf5_output(path) as file:
        file["b"] = object()
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.hdf5"]
    with h5py.File(path) as file:
        assert set(file) == {"a"}


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ConfigError, match="nowhere: is not a directory"), hdf5_output(tmp_path / "nowhere" / "x.hdf5"):
        pass

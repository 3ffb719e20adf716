"""Where the recorded outputs of the originals are, and how near ours must come."""

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

GOLDEN = Path(__file__).parents[1] / "golden"
MODEL = GOLDEN / "bilm" / "skip2"
OPTIONS, WEIGHTS = str(MODEL / "options.json"), str(MODEL / "weights.hdf5")
DUMPS = GOLDEN / "dumps"
DIM = 12  # of a token's vector in this model
CLOSE = 1e-5


def read_json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def assert_close(found: Any, wanted: Any, *, message: str = "") -> None:
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=0, atol=CLOSE, err_msg=message)


def datasets(path: Path) -> dict[str, h5py.Dataset]:
    """All datasets of a file by their full names, read."""
    found: dict[str, Any] = {}

    def visit(name: str, value: object) -> None:
        if isinstance(value, h5py.Dataset):
            found[name] = (value.dtype, value[...])

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


def assert_same_file(found: Path, wanted: Path) -> None:
    """The same names, types, shapes and strings; numbers near each other."""
    ours, theirs = datasets(found), datasets(wanted)
    assert set(ours) == set(theirs)
    for name, (dtype, values) in theirs.items():
        assert ours[name][0] == dtype, name
        assert ours[name][1].shape == values.shape, name
        if dtype.kind == "f":
            assert_close(ours[name][1], values, message=name)
        else:
            assert list(ours[name][1]) == list(values), name

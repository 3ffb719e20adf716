"""A few inputs of benchmarks/hostile/fuzz.py, which runs hundreds of thousands."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "hostile" / "fuzz.py"
INPUTS = 330


@pytest.fixture(scope="module")
def fuzz():
    spec = importlib.util.spec_from_file_location("fuzz", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["fuzz"]


def test_changed_files_are_read_or_refused_in_one_line(fuzz, tmp_path):
    targets = fuzz.make_targets(tmp_path / "valid")
    outcomes = set()
    for number in range(INPUTS):
        target = targets[number % len(targets)]
        directory = tmp_path / target.name
        directory.mkdir(exist_ok=True)
        for name, content in target.files.items():
            (directory / name).write_bytes(content)
        outcomes.add(target.run(directory, 0, number))
    assert outcomes == {"read", "refused"}


def test_an_input_can_be_made_again_from_its_number(fuzz, tmp_path):
    target = fuzz.make_targets(tmp_path / "valid")[0]
    for name, content in target.files.items():
        (tmp_path / name).write_bytes(content)
    made = []
    for _ in range(2):
        target.run(tmp_path, 7, 123)
        made.append((tmp_path / target.changed).read_bytes())
    assert made[0] == made[1] != target.files[target.changed]

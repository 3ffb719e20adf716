"""The mixes of a task run: read from its model and its metrics, and drawn."""

import json
from pathlib import Path

import pytest

from elmo.analysis.mixes import draw_mixes, read_mixes
from elmo.errors import ElmoError, InputError

MIXES = {"input": {"layers": [0.5, 0.3, 0.2], "gamma": 1.5}, "output": {"layers": [0.1, 0.2, 0.7], "gamma": 0.9}}
BEFORE = {name: {"layers": [1 / 3] * 3, "gamma": 1.0} for name in MIXES}


def make_run(folder: Path, mixes: object, *, metrics: bool = True) -> Path:
    (folder / "model").mkdir(parents=True)
    values = {"format": "elmo-task", "format_version": 1, "mixes": mixes}
    (folder / "model" / "task.json").write_text(json.dumps(values))
    if metrics:
        lines = [{"kind": "dev", "step": 1, "f1": 3.0}]
        lines += [{"kind": "mix", "step": n, "epoch": n, "mixes": one} for n, one in ((1, BEFORE), (2, MIXES))]
        (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_mixes_are_those_of_the_model_and_of_each_epoch(tmp_path: Path) -> None:
    found = read_mixes(make_run(tmp_path / "run", MIXES))
    assert {name: mix._asdict() for name, mix in found.final.items()} == MIXES
    assert [epoch for epoch, _ in found.epochs] == [1, 2]
    assert found.epochs[0][1]["output"].layers == [1 / 3] * 3
    assert read_mixes(tmp_path / "run" / "model").epochs == []


def test_pictures_of_a_run_and_of_a_model_alone_are_written(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", MIXES)
    draw_mixes(read_mixes(run), tmp_path / "run.svg")
    draw_mixes(read_mixes(run / "model"), tmp_path / "model.png")
    assert b"<svg" in (tmp_path / "run.svg").read_bytes()
    assert (tmp_path / "model.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("mixes", [None, {}, [1], {"input": 3}, {"input": {"layers": ["x"], "gamma": 1.0}}])
def test_a_run_without_mixes_or_with_others_is_refused_by_its_name(tmp_path: Path, mixes: object) -> None:
    run = make_run(tmp_path / "run", mixes, metrics=False)
    with pytest.raises(InputError, match=r"task.json"):
        read_mixes(run)
    with pytest.raises(ElmoError, match="none"):
        read_mixes(tmp_path / "none")

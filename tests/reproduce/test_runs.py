"""Raw runs: whole lines, merged from several files, each run once."""

import json
import logging
from pathlib import Path

import pytest

from elmo.errors import InputError
from elmo.reproduce.runs import RunFile, read_runs

SCORES = {"name": "together", "instances": 9, "first": 65.0, "layers": [70.0, 72.5], "mean": 71.0}
MADE = {
    "set": "wsd",
    "files": {},
    "model": None,
    "vectors": None,
    "seconds": 3.5,
    "date": "2026-11-19",
    "device": "cpu",
    "versions": {"elmo": "0.1.0"},
}
SENSES = {**MADE, "kind": "senses", "scores": [SCORES]}
TASK = {
    **MADE,
    "kind": "task",
    "arm": "input",
    "seed": 1,
    "fraction": 1.0,
    "point": [],
    "options": ["train.seed=1"],
    "elmo": {"where": "input"},
    "metric": "f1",
    "dev": {"f1": 80.0},
    "test": {"f1": 79},
    "history": [[3, 80.0]],
    "best_epoch": 1,
    "epochs": 1,
    "epoch_seconds": 0.5,
    "mixes": {"input": {"layers": [0.2, 0.5, 0.3], "gamma": 1.1}},
}
PROBE = {**MADE, "kind": "probe", "seed": 1, "dev": [90.0, 95.0], "test": [91.0, 94]}


def test_files_of_several_machines_are_merged(tmp_path: Path) -> None:
    file = RunFile(tmp_path)
    assert not file.path.exists()
    for key in "ab":
        file.add({**SENSES, "key": key, "place": "here"})
    (tmp_path / "there.jsonl").write_text(
        "".join(json.dumps({**SENSES, "key": key, "place": "there"}) + "\n" for key in "bc"), encoding="utf-8"
    )
    assert {run["key"] for run in read_runs([tmp_path])} == {"a", "b", "c"}
    assert len(read_runs([file.path, tmp_path / "there.jsonl", tmp_path / "nowhere"])) == 3


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({**SENSES, "key": "a"}) + '\n{"key": "b", "ki', encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        assert [run["key"] for run in read_runs([tmp_path])] == ["a"]
    assert "its last line was cut off" in caplog.text


def test_what_is_no_run_is_named(tmp_path: Path) -> None:
    runs = {"senses": SENSES, "task": TASK, "probe": PROBE}
    lines = [json.dumps({**run, "key": key, "more": 1}) for key, run in runs.items()]
    for run, change, said in (
        (SENSES, {"key": 3}, r"\.key: found 3"),
        (SENSES, {"kind": "nonsense"}, r"\.kind: found 'nonsense'"),
        (SENSES, {"kind": "task"}, "key 'arm' is missing"),
        (SENSES, {"model": 7}, r"\.model: found 7"),
        (SENSES, {"seconds": "long"}, r"\.seconds: found 'long'"),
        (SENSES, {"scores": []}, "scores have not a number for each layer"),
        (SENSES, {"scores": [SCORES, {**SCORES, "layers": [70.0]}]}, "scores have not a number for each layer"),
        (TASK, {"metric": "accuracy"}, "dev has no 'accuracy'"),
        (TASK, {"test": {"accuracy": 79.0}}, "test has no 'f1'"),
        (TASK, {"history": [[3]]}, r"\.history\[0\]: found 1 values"),
        (TASK, {"best_epoch": 2}, "best_epoch is 2, but the history has 1 epochs"),
        (TASK, {"mixes": {"input": [1.0]}}, r"\.mixes\.input: found list"),
        (PROBE, {"test": [91.0]}, "dev and test have not a number for each layer"),
    ):
        (tmp_path / "a.jsonl").write_text(
            "\n".join([*lines, json.dumps({**run, "key": "b", **change})]) + "\n", encoding="utf-8"
        )
        with pytest.raises(InputError, match=rf"a.jsonl: line 4.*{said}.*: is no run of .*; remove the line"):
            read_runs([tmp_path])
    (tmp_path / "a.jsonl").write_text(
        "\n".join([*lines, json.dumps({**PROBE, "key": "b", "dev": [9.0], "test": [9.0]})]) + "\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match=r"a.jsonl: line 4: dev has 1 layers, but that of the runs before it has 2"):
        read_runs([tmp_path])
    without = {name: value for name, value in SENSES.items() if name != "model"} | {"key": "b"}
    (tmp_path / "a.jsonl").write_text(json.dumps(without) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"a.jsonl: line 1: key 'model' is missing"):
        read_runs([tmp_path])
    (tmp_path / "a.jsonl").write_text("nonsense\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"a.jsonl: line 1: is not JSON"):
        read_runs([tmp_path])

"""Raw runs: whole lines, merged from several files, each run once."""

import json
import logging
from pathlib import Path

import pytest

from elmo.errors import InputError
from elmo.reproduce.runs import RunFile, read_runs


def test_files_of_several_machines_are_merged(tmp_path: Path) -> None:
    file = RunFile(tmp_path)
    assert not file.path.exists()
    for key in "ab":
        file.add({"key": key, "kind": "task", "place": "here"})
    (tmp_path / "there.jsonl").write_text(
        "".join(json.dumps({"key": key, "kind": "task", "place": "there"}) + "\n" for key in "bc"), encoding="utf-8"
    )
    assert {run["key"] for run in read_runs([tmp_path])} == {"a", "b", "c"}
    assert len(read_runs([file.path, tmp_path / "there.jsonl", tmp_path / "nowhere"])) == 3


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "a.jsonl").write_text('{"key": "a", "kind": "task"}\n{"key": "b", "ki', encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        assert [run["key"] for run in read_runs([tmp_path])] == ["a"]
    assert "its last line was cut off" in caplog.text


def test_what_is_no_run_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"key": "a", "kind": "task"}\n{"key": 3}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"a.jsonl: line 2: is no run"):
        read_runs([tmp_path])
    (tmp_path / "a.jsonl").write_text("nonsense\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"a.jsonl: line 1: is not JSON"):
        read_runs([tmp_path])

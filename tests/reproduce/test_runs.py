"""Raw runs: whole lines, merged from several files, each run once."""

import json
import logging
from pathlib import Path

import pytest

from elmo.errors import InputError
from elmo.reproduce.runs import RunFile, read_runs

SENSES = {"kind": "senses", "set": "wsd", "files": {}, "model": None}


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
    for wrong, lacking in (
        ({"key": 3}, "key"),
        ({"key": "b", "kind": "task"}, "set"),
        ({**SENSES, "key": "b", "kind": "task"}, "arm"),
        ({name: value for name, value in SENSES.items() if name != "model"} | {"key": "b"}, "model"),
    ):
        lines = [json.dumps({**SENSES, "key": "a"}), json.dumps(wrong)]
        (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        with pytest.raises(InputError, match=rf"a.jsonl: line 2: is no run, which has {lacking}; remove"):
            read_runs([tmp_path])
    (tmp_path / "a.jsonl").write_text("nonsense\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"a.jsonl: line 1: is not JSON"):
        read_runs([tmp_path])

"""Metrics: lines of JSON that survive a crash in the middle of one, TensorBoard, the picture."""

import importlib.util
import json
import shutil

import pytest

from elmo.errors import MissingExtraError
from elmo.run.curves import draw_curves
from elmo.run.metrics import Metrics, read_metrics


def write_some(run, steps, **options):
    with Metrics(run, tensorboard=False, **options) as metrics:
        for step in steps:
            metrics.write("train", step, {"sampled_loss": 1.0 / step})


def test_a_resumed_run_drops_what_came_after_its_step(tmp_path):
    write_some(tmp_path, [1, 2, 3])
    write_some(tmp_path, [3, 4], after_step=2)
    assert [line["step"] for line in read_metrics(tmp_path)] == [1, 2, 3, 4]


def test_a_new_run_starts_a_new_file(tmp_path):
    write_some(tmp_path, [1, 2])
    write_some(tmp_path, [5])
    assert [line["step"] for line in read_metrics(tmp_path)] == [5]


def test_a_line_cut_off_by_a_crash_is_left_out(tmp_path, caplog):
    write_some(tmp_path, [1])
    with open(tmp_path / "metrics.jsonl", "a", encoding="utf-8") as file:
        file.write('{"kind": "tr')
    assert [line["step"] for line in read_metrics(tmp_path)] == [1]
    assert "is not JSON" in caplog.text


def test_numbers_go_to_tensorboard_where_it_is_installed(tmp_path):
    pytest.importorskip("tensorboard")
    with Metrics(tmp_path, tensorboard=True) as metrics:
        metrics.write("heldout", 3, {"average": 12.0, "backward": None})
    assert list((tmp_path / "tensorboard").iterdir())
    assert json.loads((tmp_path / "metrics.jsonl").read_text(encoding="utf-8")) == {
        "kind": "heldout",
        "step": 3,
        "average": 12.0,
        "backward": None,
    }


def test_tensorboard_reads_what_was_written_and_drops_what_a_resumed_run_did_again(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with Metrics(tmp_path, tensorboard=True) as metrics:
        for step in (1, 2, 3):
            metrics.write("train", step, {"loss": 10.0 * step})
    with Metrics(tmp_path, after_step=1, tensorboard=True) as metrics:
        metrics.write("train", 2, {"loss": 5.0})
    shown = EventAccumulator(str(tmp_path / "tensorboard")).Reload().Scalars("train/loss")
    assert [(point.step, point.value) for point in shown] == [(1, 10.0), (2, 5.0)]


def test_a_run_deleted_while_it_is_written_is_said_in_one_line_and_begun_anew(tmp_path, caplog):
    pytest.importorskip("tensorboard")
    run = tmp_path / "run"
    run.mkdir()
    with Metrics(run, tensorboard=True) as metrics:
        metrics.write("train", 1, {"loss": 1.0})
        shutil.rmtree(run)
        metrics.write("train", 2, {"loss": 1.0})
        metrics.write("train", 3, {"loss": 1.0})
    assert [line["step"] for line in read_metrics(run)] == [2, 3]
    assert [record.getMessage().count("\n") for record in caplog.records] == [0]
    assert "was deleted" in caplog.text


def test_asking_for_a_missing_tensorboard_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="pip install tensorboard"):
        Metrics(tmp_path, tensorboard=True)
    with Metrics(tmp_path) as metrics:
        metrics.write("train", 1, {"loss": 1.0})


def test_curves_are_drawn_from_the_metrics(tmp_path):
    pytest.importorskip("matplotlib")
    with Metrics(tmp_path, tensorboard=False) as metrics:
        for step in (1, 2):
            metrics.write("train", step, {"sampled_loss": 3.0 / step})
            metrics.write("heldout", step, {"forward": 9.0, "backward": None, "average": 9.0})
    path = draw_curves(tmp_path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_no_matplotlib_means_no_picture_and_no_error(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert draw_curves(tmp_path) is None
    assert not (tmp_path / "curves.png").exists()

"""The script that times a task's step on a CPU runs, and leaves the networks as they were."""

from pathlib import Path

import pytest
from benchmarks.cpu import task_step

from elmo.tasks.networks import encoder

SAMPLES = Path(__file__).parent.parent / "tasks" / "samples"


def test_steps_are_timed_with_both_lstms(capsys: pytest.CaptureFixture[str]) -> None:
    before = encoder.read_layer
    changes = ["--set", "task.model.hidden=6", "--set", "embedding.words.dim=6", "--set", "train.batch_size=4"]
    task_step.main(["questions", str(SAMPLES / "questions-train.json"), "--elmo", "none", "--steps", "2", *changes])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("questions: 2 steps of 4 examples")
    assert [line.split()[0] for line in lines[1:4]] == ["ours", "PyTorch's", "batches"]
    assert lines[4].startswith("PyTorch's LSTM / ours: ")
    assert encoder.read_layer is before

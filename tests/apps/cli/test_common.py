"""What every command shares: options on both sides of its name, messages beside a bar, help that is not cut off."""

import io
import logging
import os
import sys
from pathlib import Path

import pytest
from tests.apps.cli.conftest import Command
from tqdm import tqdm

from elmo.apps.cli.common import Messages, one_call
from elmo.weights.published.offline import VARIABLE, is_offline


def test_shared_options_stand_before_or_behind_the_command(command: Command, tmp_path: Path) -> None:
    assert "Traceback" in command("--debug", "info", tmp_path / "none").err
    assert "Traceback" in command("info", tmp_path / "none", "--debug").err
    assert "Traceback" not in command("info", tmp_path / "none").err
    (tmp_path / "text.txt").write_text("A cat sat on a mat .\n" * 300, encoding="utf-8")
    assert command("corpus", "build", tmp_path / "text.txt", "-o", tmp_path / "corpus", "--tokenized", "-v").code == 0
    run = ["pretrain", tmp_path / "corpus", "--size", "tiny", "--steps", "1", "--device", "cpu"]
    assert "expected: " in command(*run, "-o", tmp_path / "run").err


def test_fine_tuning_tells_its_plan_and_its_steps_and_that_it_was_finished(command: Command, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("A cat sat on a mat .\n" * 300, encoding="utf-8")
    (tmp_path / "domain.txt").write_text("A gene sat on a mat .\n" * 300, encoding="utf-8")
    build = ["corpus", "build", tmp_path / "text.txt", "-o", tmp_path / "corpus", "--tokenized"]
    assert command(*build).code == 0
    short = ["--steps", "1", "--batch-size", "4", "--device", "cpu"]
    assert command("pretrain", tmp_path / "corpus", "-o", tmp_path / "run", "--size", "tiny", *short).code == 0
    tune = ["finetune", tmp_path / "domain.txt", "-o", tmp_path / "tuned", "--tokenized", *short]
    tune += ["--model", tmp_path / "run" / "model"]
    first = command(*tune)
    assert first.code == 0, first.err
    assert "elmo: expected: " in first.err
    assert "elmo: step 1 of 1" in first.err
    assert "1 of them new words of the text" in first.out
    (tmp_path / "harmful.toml").write_text('[optimizer]\nkind = "adam"\nlearning_rate = 0.3\n', encoding="utf-8")
    harmful = [*tune[:3], tmp_path / "harmful", *tune[4:], "--config", tmp_path / "harmful.toml", "--steps", "3"]
    nothing = command(*harmful)
    assert nothing.code == 3, nothing.err
    assert "not predicted better than before: the biLM is left as it was" in nothing.out
    refused = command(*tune, "--general-text", tmp_path / "text.txt", "--resume")
    assert refused.code == 2
    assert "leave out --general-text" in refused.err
    again = command(*tune, "--resume")
    assert again.code == 0, again.err
    assert "training: is finished already, at step 1" in again.err
    assert again.out == first.out


@pytest.mark.parametrize("before", [None, "0", "1"])
def test_offline_holds_for_its_call_alone_and_leaves_the_environment_as_it_is(
    before: str | None, command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path))
    monkeypatch.delenv(VARIABLE, raising=False)
    if before is not None:
        monkeypatch.setenv(VARIABLE, before)
    environment = dict(os.environ)
    for arguments in (["--offline", "info", "original"], ["info", "original", "--offline"]):
        assert "working offline" in command(*arguments).err
        assert dict(os.environ) == environment
        assert is_offline() == (before == "1")


def test_no_command_speaks_through_the_environment() -> None:
    import elmo.apps

    folder = Path(elmo.apps.__file__).parent
    assert [path.name for path in folder.rglob("*.py") if "os.environ[" in path.read_text("utf-8")] == []


def test_the_version_is_told(command: Command) -> None:
    assert command("--version").out.split() == ["elmo", "0.1.0"]


def test_help_uses_the_width_of_the_terminal_and_cuts_no_description(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    out = command("--help").out
    assert "..." not in out.replace("[ARGS]...", "")
    assert max(map(len, out.splitlines())) > 85


def test_a_missing_argument_comes_with_the_usage(command: Command) -> None:
    done = command("score")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "Usage: elmo score" in done.err


def test_a_message_does_not_break_a_progress_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(sys, "stderr", terminal)
    with tqdm(total=3, file=terminal, desc="bar") as bar:
        bar.update()
        Messages().handle(logging.LogRecord("elmo", logging.WARNING, "", 0, "one %s", ("word",), None))
    lines = terminal.getvalue().replace("\r", "\n").splitlines()
    assert "elmo: one word" in [line.strip() for line in lines]


def test_logging_of_one_call_does_not_add_to_that_of_the_next() -> None:
    for _ in range(2):
        with one_call([]):
            assert len(logging.getLogger().handlers) == 1

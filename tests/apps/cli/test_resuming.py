"""What a run says to type goes on with it, and an interrupted one ends a script."""

import pytest
import typer

from elmo.apps.cli.resuming import INTERRUPTED, command_again, end_unfinished


@pytest.mark.parametrize(
    ("processes", "arguments", "wanted"),
    [
        (None, ["pretrain", "my corpus", "-o", "run"], "elmo pretrain 'my corpus' -o run --resume"),
        (None, ["pretrain", "corpus", "--resume", "-o", "run"], "elmo pretrain corpus -o run --resume"),
        (
            "4",
            ["pretrain", "corpus", "-o", "run"],
            "torchrun --nproc-per-node 4 -m elmo pretrain corpus -o run --resume",
        ),
    ],
)
def test_the_command_goes_on_as_the_run_was_begun(processes, arguments, wanted, monkeypatch):
    if processes is not None:
        monkeypatch.setenv("LOCAL_WORLD_SIZE", processes)
    assert command_again(arguments) == wanted


def test_only_an_interrupted_run_ends_a_script():
    for status in ("finished", "time limit", "no longer improving"):
        end_unfinished(status)
    with pytest.raises(typer.Exit) as raised:
        end_unfinished("interrupted")
    assert raised.value.exit_code == INTERRUPTED

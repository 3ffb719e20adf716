"""`elmo embed - -o -` as a co-process, and what happens when it is interrupted while it waits for input."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from elmo.embed.bulk.job import embed_file
from elmo.embed.bulk.options import BulkOptions
from elmo.embed.embedder import Embedder
from elmo.embed.loading import load

RUN = [sys.executable, "-c", "import sys; from elmo.apps.cli import main; sys.exit(main())", "embed", "-"]


def test_lines_that_come_through_a_pipe_are_answered_as_they_come(model_directory: Path, embedder: Embedder) -> None:
    command = [*RUN, "-o", "-", "-m", str(model_directory), "--device", "cpu"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        number = 0
        for asked in (["I sat on the bank."], ["Two", "at once, 漢字"], [""], ["The last."]):
            process.stdin.write("".join(f"{line}\n" for line in asked))
            process.stdin.flush()
            for line in asked:  # each read waits for its answer, while the input stays open
                row = json.loads(process.stdout.readline())
                assert (row["line"], row["text"]) == (number, line)
                assert len(row["vectors"]) == len(row["tokens"])
                number += 1
                if line:
                    assert row["vectors"] == embedder.encode(line).tolist()
        process.stdin.close()
        assert process.stdout.read() == ""
        assert process.stderr is not None
        assert process.stderr.read().startswith("5 lines, ")
        assert process.wait() == 0


@pytest.mark.parametrize("state", ["settled", "carry"])
def test_a_file_as_standard_input_gives_what_its_name_gives(
    state: str,
    model_directory: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("".join(f"line number {n}\n" for n in range(100)))
    embedder = load(model_directory, device="cpu", state=state)
    answers = []
    for source in (str(text), "-"):
        with open(text) as file:
            monkeypatch.setattr(sys, "stdin", file)
            embed_file(embedder, source, "-", options=BulkOptions())
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1] != ""


@pytest.mark.parametrize("output", ["-", "out.jsonl"])
def test_ctrl_c_ends_a_run_that_waits_for_input(output: str, model_directory: Path, tmp_path: Path) -> None:
    command = [*RUN, "-o", output, "-m", str(model_directory), "--device", "cpu"]
    # It says that it reads by a line of its own, so that the signal comes when it waits and not before.
    command[2] = (
        "import signal, sys, elmo.text.lines as files\n"
        "from elmo.apps.cli import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # tests started in the background ignore it
        "read = files._blocks\n"
        "def told(name):\n"
        "    print('reading', file=sys.stderr, flush=True)\n"
        "    yield from read(name)\n"
        "files._blocks = told\n"
        "sys.exit(main())"
    )
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "reading\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=800) == 130  # the input is still open
        assert process.stderr.read() == "elmo: interrupted\n"

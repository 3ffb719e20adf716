"""`elmo explore` from the command line: the file that it writes, what it refuses, and that it serves."""

import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from elmo.apps.cli import main

TEXT = "The bank is here. A bank is there.\nThis bank is mine.\n"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


def test_a_page_of_an_own_text_is_written_and_not_overwritten(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = text.parent / "page.html"
    arguments = ["explore", str(text), "--export", str(page), "-w", "bank"]
    assert main(arguments) == 0
    written = page.read_text("utf-8")
    assert '"source":"text.txt"' in written
    assert capsys.readouterr().out == f"{page}: the uses of bank ({page.stat().st_size / 1e6:.1f} MB)\n"
    assert main(arguments) == 2
    assert "exists already" in capsys.readouterr().err
    assert main([*arguments, "--overwrite"]) == 0
    assert page.read_text("utf-8") == written


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--task", "run", "--export", "{page}"], "--task needs the model"),
        (["-w", "bank"], "--word is for --export"),
        (["{rare}", "--export", "{page}"], "name the words of the page with --word"),
        (["{text}", "--export", "{page}", "-w", "zebra"], "'zebra' is in none of the 3 sentences"),
        (["{empty}", "--export", "{page}"], "has no sentences"),
        (["{nothing}", "--export", "{page}"], "nothing.txt"),
        (["--index", "{text}", "--export", "{page}"], "text.txt"),
    ],
)
def test_mistakes_are_told_in_one_line(
    arguments: list[str], message: str, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {name: text.parent / f"{name}.txt" for name in ("text", "rare", "empty", "nothing")}
    names["page"] = text.parent / "page.html"
    names["rare"].write_text("One use of each word.\n")
    names["empty"].write_text("\n")
    assert main(["explore", *(argument.format(**names) for argument in arguments)]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not names["page"].exists()


def test_an_index_is_made_of_the_text_where_there_is_none(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, page = text.parent / "index", text.parent / "page.html"
    arguments = ["explore", str(text), "--index", str(folder), "--export", str(page), "-w", "bank"]
    assert main(arguments) == 0
    assert '"source":"index"' in page.read_text("utf-8")
    made = (folder / "index.json").stat().st_mtime_ns
    assert main([*arguments, "--overwrite"]) == 0
    assert (folder / "index.json").stat().st_mtime_ns == made
    assert main(["explore", "--index", str(folder), "--export", str(page), "-w", "bank", "--overwrite"]) == 0
    other = text.parent / "other.txt"
    other.write_text("Something else.\n")
    assert main(["explore", str(other), *arguments[2:], "--overwrite"]) == 2
    assert "not of the text that is given" in capsys.readouterr().err


def test_the_page_is_served_until_it_is_interrupted(text: Path) -> None:
    pytest.importorskip("starlette", reason="the extra `serve` is not installed")
    command = [sys.executable, "-m", "elmo", "explore", str(text), "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("the page is http://127.0.0.1:"), process.stderr and process.stderr.read()
        with urllib.request.urlopen(line.split()[3]) as page:
            assert "elmo explore" in page.read().decode()
        process.send_signal(signal.SIGINT)
        rest, said = process.communicate()
    assert (process.returncode, rest, said) == (0, "", "")

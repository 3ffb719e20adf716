"""The whole of bulk embedding without the model: every line and token comes through, and its time is counted."""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from benchmarks.bulk import reading
from benchmarks.bulk.processes import processor_seconds
from benchmarks.bulk.standin import NoTimeEmbedder
from benchmarks.bulk.text import write_text
from benchmarks.bulk.usage import OWN, Usage
from tests.tiny import make_bilm

import elmo
from elmo.embed.bulk import parts
from elmo.embed.bulk.job import embed_file
from elmo.embed.bulk.options import BulkOptions
from elmo.text.tokenizer import Tokenizer
from elmo.weights.loaded import LoadedModel


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_model_that_takes_no_time_makes_files_of_the_right_shape(
    dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "TEXT_FOR_WORKERS", 1)
    monkeypatch.setattr(parts, "available_cores", lambda: 3)
    monkeypatch.setattr(parts, "GPU_FACTOR", 1)
    monkeypatch.setattr(parts, "LINES_IN_PART", 40)
    write_text(tmp_path / "text.txt", tokens=2000)
    embedder = NoTimeEmbedder(LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer()))
    output = tmp_path / "vectors.safetensors"
    result = embed_file(embedder, str(tmp_path / "text.txt"), str(output), options=BulkOptions(dtype=dtype))
    assert result is not None
    texts = (tmp_path / "text.txt").read_text("utf-8").splitlines()
    with elmo.read_vectors(output) as lines:
        assert len(lines) == len(texts) > 40
        tokenizer = Tokenizer()
        for line, text in zip(lines, texts, strict=True):
            words = [word for sentence in tokenizer.sentence_words(text) for word in sentence]
            assert (line.text, line.tokens) == (text, words)
            assert line.vectors.shape == (len(words), embedder.dim)
            assert line.vectors.dtype == dtype


def test_processor_time_is_counted_for_each_kind_of_thread() -> None:
    def work(seconds: float) -> None:
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass

    with Usage() as usage:
        with ThreadPoolExecutor(2, thread_name_prefix="busy") as threads:
            list(threads.map(work, [0.05, 0.05]))
        work(0.03)
        time.sleep(0.05)
    assert 0.1 <= usage.seconds["busy"] < 0.2
    assert 0.03 <= usage.seconds[OWN] < 0.1
    assert "s a million tokens  busy" in usage.report(tokens=1000)


BUSY = """
import subprocess, sys, time
while time.process_time() < 0.4: pass
if len(sys.argv) < 2: subprocess.run([sys.executable, __file__, "child"], check=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_processes_under_a_command_are_counted_and_its_failure_is_told(tmp_path: Path) -> None:
    script = tmp_path / "busy.py"
    script.write_text(BUSY)
    spent = sum(processor_seconds([sys.executable, str(script)], environment=os.environ).values())
    assert 0.5 < spent < 3  # what is spent after the last look is missing
    with pytest.raises(RuntimeError, match="out of order"):
        processor_seconds([sys.executable, "-c", "raise SystemExit('out of order')"], environment=os.environ)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_lines_that_are_read_back_are_not_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--lines", "300", "--reads", "40", "--dim", "8", "--folder", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["reading", *given])
    reading.main()
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in shown] == ["safetensors", "arrow", "parquet"]
    assert [line.endswith("; 40 of 40 not copied") for line in shown] == [True, True, False]

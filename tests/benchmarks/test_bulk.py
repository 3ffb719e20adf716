"""The whole of bulk embedding without the model: every line and token comes through, and its time is counted."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
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

"""Vectors that leave a GPU while it goes on: the same bits as by the plain way, whatever ends a call."""

import random
import signal
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
import torch
from tests.tiny import make_bilm

from elmo.embed import outbox
from elmo.embed.bulk import parts
from elmo.embed.bulk.job import embed_file
from elmo.embed.bulk.options import BulkOptions
from elmo.embed.contextualize import contextualize
from elmo.embed.embedder import Embedder
from elmo.embed.outbox import Outbox
from elmo.embed.selection import select_layers
from elmo.ops.arrays import host
from elmo.text.tokenizer import Tokenizer
from elmo.weights.loaded import LoadedModel

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]

Sentences = list[list[str]]


@pytest.fixture
def on_gpu(monkeypatch: pytest.MonkeyPatch) -> Embedder:
    monkeypatch.setattr(outbox, "CHUNK_BYTES", 1000)  # many chunks, more than may be under way
    monkeypatch.setattr(outbox, "CHUNKS_UNDER_WAY", 3)
    return Embedder(LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer(rule="treebank")), device="cuda")


def make_sentences(count: int = 200) -> Sentences:
    chance = random.Random(0)
    return [[f"w{chance.randrange(90)}" for _ in range(chance.randrange(30))] for _ in range(count)]


@torch.inference_mode()
def plain(embedder: Embedder, sentences: Sentences, layers: str, batch_size: int) -> list[np.ndarray]:
    """Batch by batch, each waited for."""
    results: list[np.ndarray] = [np.empty(0)] * len(sentences)
    for batch in embedder._batches([len(sentence) for sentence in sentences], batch_size):
        words = [word for n in batch for word in sentences[n]]
        counts = np.array([len(sentences[n]) for n in batch])
        vectors = embedder._cache.look_up(words)
        stacked, _, _ = contextualize(
            embedder._forward, vectors, embedder._boundaries, counts, embedder._start(len(batch))
        )
        chosen = host(select_layers(stacked, layers).float())
        for n, sentence in enumerate(batch):
            results[sentence] = chosen[..., n, 1 : len(sentences[sentence]) + 1, :].copy()
    return results


@pytest.mark.parametrize("dtype", [None, "float16"])
@pytest.mark.parametrize("layers", ["mean", "all"])
def test_vectors_have_the_bits_of_batches_that_are_waited_for(on_gpu: Embedder, layers: str, dtype: str | None) -> None:
    sentences = make_sentences()
    expected = plain(on_gpu, sentences, layers, 32)
    for _ in range(3):
        found = on_gpu.encode(sentences, layers=layers, batch_size=32, dtype=dtype)
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.flags.c_contiguous
            assert ours.dtype == (np.float16 if dtype else np.float32)
            np.testing.assert_array_equal(ours, theirs.astype(ours.dtype))


def test_texts_of_several_sentences_are_one_array(on_gpu: Embedder) -> None:
    texts = ["The bank is closed. We went home.", "Yes.", "", "No one sat. No one left. All is well."]
    for layers in ("mean", "all"):
        apart = [on_gpu.encode(text.replace(". ", ".\n").split("\n"), layers=layers) for text in texts]
        for ours, theirs in zip(on_gpu.encode(texts, layers=layers), apart, strict=True):
            np.testing.assert_array_equal(ours, np.concatenate(theirs, axis=-2))


def outbox_threads() -> int:
    return sum(thread.name.startswith("elmo-outbox") for thread in threading.enumerate())


def test_an_error_in_the_middle_leaves_no_thread_and_the_next_call_is_right(
    on_gpu: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = make_sentences()
    expected = on_gpu.encode(sentences, batch_size=32)
    forward, calls = on_gpu._forward, []

    def fail_later(*given: object) -> object:
        calls.append(1)
        if len(calls) == 4:
            raise RuntimeError("the power is out")
        return forward(*given)

    monkeypatch.setattr(on_gpu, "_forward", fail_later)
    with pytest.raises(RuntimeError, match="the power is out"):
        on_gpu.encode(sentences, batch_size=32)
    assert outbox_threads() == 0
    monkeypatch.setattr(on_gpu, "_forward", forward)
    for ours, theirs in zip(on_gpu.encode(sentences, batch_size=32), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_an_interrupt_in_the_middle_leaves_no_thread_and_the_next_call_is_right(on_gpu: Embedder) -> None:
    from elmo.embed.numbered import number_sentences

    sentences = make_sentences()
    expected = on_gpu.encode(sentences, batch_size=32)
    seen = []

    def finished(batch: Sequence[int]) -> None:
        seen.append(len(batch))
        if len(seen) == 3:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        on_gpu.embed_numbered(number_sentences(sentences), layers="mean", batch_size=32, finished=finished)
    assert outbox_threads() == 0
    for ours, theirs in zip(on_gpu.encode(sentences, batch_size=32), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_an_error_behind_the_call_is_raised_by_it() -> None:
    values = torch.ones(50, 16, device="cuda")
    target = np.zeros((10, 16), np.float32)
    with pytest.raises(IndexError), Outbox(torch.device("cuda")) as sending:
        sending.send(values, target, np.arange(50))
    assert outbox_threads() == 0


def test_threads_that_share_a_model_on_streams_of_their_own_get_the_same_bits(on_gpu: Embedder) -> None:
    sentences = make_sentences()
    expected = on_gpu.encode(sentences, layers="all", batch_size=16)
    wrong: list[object] = []

    def call() -> None:
        try:
            with torch.cuda.stream(torch.cuda.Stream()):
                for _ in range(5):
                    found = on_gpu.encode(sentences, layers="all", batch_size=16)
                    wrong.extend(n for n, one in enumerate(found) if not np.array_equal(one, expected[n]))
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("suffix", [".parquet", ".safetensors", ".arrow", ".jsonl"])
def test_a_file_holds_what_encode_gives(
    on_gpu: Embedder, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from elmo.embed.bulk.readers.reading import read_vectors

    monkeypatch.setattr(parts, "TEXT_FOR_WORKERS", 1)  # other processes tokenize
    monkeypatch.setattr(parts, "LINES_IN_PART", 8)
    lines = [" ".join(sentence) for sentence in make_sentences()]
    source = tmp_path / "text.txt"
    source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    output = tmp_path / f"out{suffix}"
    options = BulkOptions(dtype="float16", batch_size=32)
    embed_file(on_gpu, str(source), str(output), options=options, show_progress_bar=False)
    expected = on_gpu.encode(lines, dtype="float16")
    with read_vectors(output) as found:
        assert len(found) == len(lines)
        for line, text, vectors in zip(found, lines, expected, strict=True):
            assert line.text == text
            np.testing.assert_allclose(line.vectors, vectors, rtol=2e-3, atol=2e-3)  # other batches, other roundings
    if suffix == ".parquet":
        assert pyarrow.parquet.read_metadata(output).num_rows == len(lines)

"""Threads that share a model get the bits of calls one behind the other; so do they after an interrupt, and a fork."""

import copy
import http.client
import http.server
import json
import logging
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.forked import code_of, fork_for
from tests.tiny import make_bilm

from elmo.embed import runners
from elmo.embed.embedder import Embedder
from elmo.embed.loading import load
from elmo.embed.module import Elmo
from elmo.embed.wordrows import word_vectors
from elmo.model.packed import PackedBiLM
from elmo.ops.cpu.making import Making
from elmo.text.chars import spell
from elmo.text.tokenizer import Tokenizer
from elmo.weights.arrays import BiLMArrays
from elmo.weights.loaded import LoadedModel

Sentences = list[list[str]]
Answers = list[Any]
THREADS, ROUNDS = 4, 5
WORDS = [f"{first}{second}{third}" for first in "abcdefgh" for second in "aeiou" for third in "lmnrst"]
on_gpu = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]
devices = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=on_gpu)])


@pytest.fixture(autouse=True)
def _restless() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def make_calls(seed: int, *, count: int = 12) -> list[Sentences]:
    """What is asked, in batches of several lengths; some words come again, some are new in each call."""
    rng = random.Random(seed)
    return [
        [[rng.choice(WORDS) for _ in range(rng.randint(1, 9))] for _ in range(rng.randint(1, 9))] for _ in range(count)
    ]


def tiny() -> LoadedModel:
    return LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer(), vocabulary=None, softmax=None)


def encoder(device: str) -> Callable[[Sentences], Answers]:
    return Embedder(tiny(), device=device).encode


def module(device: str) -> Callable[[Sentences], Answers]:
    elmo = Elmo(tiny()).eval().to(device)

    @torch.no_grad()
    def run(sentences: Sentences) -> Answers:
        return [vectors.cpu().numpy() for vectors in elmo(sentences).representations]

    return run


def by_threads(call: Callable[[Sentences], Answers], asked: Sequence[Sentences]) -> list[Answers]:
    """All calls, by threads that begin together."""
    together = threading.Barrier(THREADS)

    def work(first: int) -> dict[int, Answers]:
        together.wait()
        return {n: call(asked[n]) for n in range(first, len(asked), THREADS)}

    with ThreadPoolExecutor(THREADS) as pool:
        found = {n: answer for part in pool.map(work, range(THREADS)) for n, answer in part.items()}
    return [found[n] for n in range(len(asked))]


def equal(found: Sequence[Answers], wanted: Sequence[Answers]) -> bool:
    return all(
        np.array_equal(a, b)
        for ours, theirs in zip(found, wanted, strict=True)
        for a, b in zip(ours, theirs, strict=True)
    )


@devices
@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("make", [encoder, module])
def test_threads_get_the_bits_of_serial_calls(
    make: Callable[[str], Callable[[Sentences], Answers]], kernels: bool, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not kernels:
        monkeypatch.setattr(runners, "kernels_run", lambda: False)
    for seed in range(ROUNDS):
        asked = make_calls(seed)
        alone, shared = make(device), make(device)
        wanted = [alone(sentences) for sentences in asked]
        assert equal(by_threads(shared, asked), wanted)  # cold
        assert equal(by_threads(shared, asked), wanted)  # warm; on a GPU from recordings
        assert equal([shared(sentences) for sentences in asked], wanted)  # and afterwards


@devices
@pytest.mark.parametrize("kernels", [True, False])
def test_a_words_bits_do_not_depend_on_the_words_beside_it(device: str, kernels: bool) -> None:
    bilm = make_bilm().to(device)
    spelled, sizes = spell(WORDS), (1, 2, 3, 5, 7, 8, 17, 31, 100)
    if device == "cpu":
        arrays = BiLMArrays.of_network(bilm)
        tokens = PackedBiLM(arrays.config, arrays.tensors, Making(kernels=kernels)).tokens
        for size in sizes:
            pieces = [word_vectors(tokens, spelled[n : n + size]) for n in range(0, len(spelled), size)]
            assert np.array_equal(np.concatenate(pieces), word_vectors(tokens, spelled)), size
    if device == "cpu" and kernels:
        return  # torch has none there
    rows = torch.from_numpy(spelled).to(device)
    with torch.no_grad():
        together = word_vectors(bilm.tokens, rows)
        for size in sizes:
            pieces = [word_vectors(bilm.tokens, piece) for piece in rows.split(size)]
            assert torch.equal(torch.cat(pieces), together), size


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_threads_with_streams_of_their_own_get_the_same_bits() -> None:
    asked = make_calls(7, count=24)
    for make in (encoder, module):
        alone, shared = make("cuda"), make("cuda")
        wanted = [alone(sentences) for sentences in asked]

        def on_a_stream(sentences: Sentences, shared: Callable[[Sentences], Answers] = shared) -> Answers:
            with torch.cuda.stream(torch.cuda.Stream()):
                return shared(sentences)

        for _ in range(3):
            assert equal(by_threads(on_a_stream, asked), wanted)


@devices
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, RuntimeError])
def test_an_interrupted_call_leaves_nothing_wrong(error: type[BaseException], device: str) -> None:
    asked = make_calls(3)
    alone, embedder = encoder(device), Embedder(tiny(), device=device)
    wanted = [alone(sentences) for sentences in asked]
    real = embedder._forward
    for n, sentences in enumerate(asked):

        def interrupted(*_: object) -> Any:
            raise error("in the middle of a batch")

        embedder._forward = interrupted
        with pytest.raises(error, match="in the middle"):
            embedder.encode(sentences)
        embedder._forward = real
        assert equal([embedder.encode(sentences)], [wanted[n]])
    assert equal(by_threads(embedder.encode, asked), wanted)


def test_a_module_is_copied_while_threads_use_it() -> None:
    asked = make_calls(4)
    elmo = Elmo(tiny()).eval()
    alone = module("cpu")
    wanted = [alone(sentences) for sentences in asked]

    @torch.no_grad()
    def through_a_copy(sentences: Sentences) -> Answers:
        elmo(sentences)
        return [vectors.numpy() for vectors in copy.deepcopy(elmo)(sentences).representations]

    assert equal(by_threads(through_a_copy, asked), wanted)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_forked_while_another_thread_embeds_gets_the_right_vectors(embedder: Embedder) -> None:
    asked = make_calls(5)
    wanted = [embedder.encode(sentences) for sentences in asked]
    shared = Embedder(tiny(), device="cpu")
    real, inside, done = shared._cache._encode, threading.Event(), threading.Event()

    def encode(words: Sequence[str]) -> torch.Tensor:
        inside.set()
        done.wait()
        return real(words)

    shared._cache._encode = encode
    thread = threading.Thread(target=shared.encode, args=(asked[0],))
    thread.start()
    inside.wait()  # it holds the lock now

    def embed_them() -> bool:
        shared._cache._encode = real
        return equal([shared.encode(sentences) for sentences in asked], wanted)

    child = fork_for(embed_them)
    done.set()
    thread.join()
    assert code_of(child) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_forked_after_its_parent_has_computed_with_several_threads_ends(model_directory: Path) -> None:
    """OpenMP's threads stay in the parent, and a child that waits for them never ends. Small tensors do not show it."""
    code = f"""
import os, signal
os.environ["ELMO_CPU_KERNELS"] = "0"  # so that torch computes
import torch
import elmo
large = torch.ones(1 << 22)
def compute(embedder):
    seen = []
    embedder._cache._encode = lambda words, real=embedder._cache._encode: (
        seen.append(torch.get_num_threads()), large.mul(2), large @ large, real(words))[-1]
    embedder.encode([["one", "two"]])
    return seen
assert compute(elmo.load({str(model_directory)!r}, device="cpu", num_threads=2)) == [2]
torch.set_num_threads(2)
large.mul(2)
child = os.fork()
if child == 0:
    signal.alarm(600)
    large.mul(2)
    found = [compute(elmo.load({str(model_directory)!r}, device="cpu", num_threads=n)) for n in (None, 1, 2)]
    os._exit(0 if found == [[1]] * 3 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert torch.get_num_threads() == 2
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_threads_that_set_the_number_of_threads_leave_it_as_it_was(model_directory: Path) -> None:
    before = torch.get_num_threads()
    embedder = load(model_directory, device="cpu", num_threads=before + 1)

    def ask(sentences: Sentences) -> Answers:
        found = embedder.encode(sentences)
        return [*found, np.array(torch.get_num_threads())]

    for seed in range(ROUNDS):
        asked = make_calls(seed)
        by_threads(ask, asked)
        assert torch.get_num_threads() == before
        (after,) = {int(answer[-1]) for answer in by_threads(ask, asked)}  # in the last of several calls at once
        assert after == before
        with ThreadPoolExecutor(1) as pool:  # a new thread has it from the one that set it last
            assert pool.submit(torch.get_num_threads).result() == before


def test_each_long_word_is_named_once_whoever_met_it(embedder: Embedder, caplog: pytest.LogCaptureFixture) -> None:
    shared = Embedder(embedder.model, device="cpu")
    asked = [[[f"{n:03}" + "x" * 60]] for n in range(40)]
    with caplog.at_level(logging.INFO, logger="elmo.embed.embedder"):
        by_threads(shared.encode, asked)
    counts = [int(record.getMessage().split()[0]) for record in caplog.records]
    assert sum(counts) == len(asked)
    assert [record.levelname for record in caplog.records].count("WARNING") == 1  # a server would drown in them


def test_a_threaded_server_answers_as_a_serial_program_does(embedder: Embedder) -> None:
    shared = Embedder(embedder.model, device="cpu")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = json.dumps([vectors.tolist() for vectors in shared.encode(asked)]).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    def post(sentences: Sentences) -> Answers:
        connection = http.client.HTTPConnection(*server.server_address[:2])
        connection.request("POST", "/", json.dumps(sentences))
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return [np.array(rows, dtype=np.float32) for rows in answer]

    asked = make_calls(6, count=40)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            found = by_threads(post, asked)
        finally:
            server.shutdown()
            serving.join()
    assert equal(found, [embedder.encode(sentences) for sentences in asked])

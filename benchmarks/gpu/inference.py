"""Embedding on a GPU: all layers of sentences of real lengths, ours beside AllenNLP and other LSTMs, in one run.

    python -m benchmarks.gpu.inference [--sentences TOKENIZED] [--sizes small,medium,original]

Random weights. `device` is words to all layers, left on the device in the model's type; `numpy` is what users call:
`encode(..., layers="all")`, all layers as float32 arrays on the host. No word is known beforehand: the cache is emptied
before each pass. AllenNLP is timed where `allennlp.modules.elmo` can be imported, from the same weights, the same way:
`batch_to_ids` and forward pass, sentences in order of length; then its arrays are copied to the host. Our figures are
the best of three passes, those of others of one. Sentences: tokens between spaces, one a line; generated if left out.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch

from benchmarks.gpu.dropped import results_dropped
from benchmarks.gpu.peers import LSTM, using
from benchmarks.gpu.timing import gemm_peak, kernels_of, machine, print_kernels
from elmo.embed.embedder import Embedder
from elmo.model.bilm import BiLM
from elmo.model.stacks import BiLSTMConfig
from elmo.pretrain.sizes import model_of_size
from elmo.text.tokenizer import Tokenizer
from elmo.weights.bilmtf.files import write_bilmtf
from elmo.weights.loaded import LoadedModel

PASSES = 3
SHORT_PASS = 200  # sentences, to warm up what is slow
Sentences = list[list[str]]


def make_model(size: Any) -> LoadedModel:
    bilm = BiLM(model_of_size(size))
    bilm.initialize(torch.Generator().manual_seed(0))
    loaded = LoadedModel(bilm=bilm, tokenizer=Tokenizer(), vocabulary=None, softmax=None)
    loaded.settle()
    return loaded


def batches_of(sentences: Sentences, rows: int) -> Iterator[Sentences]:
    ordered = sorted(sentences, key=len, reverse=True)
    for start in range(0, len(ordered), rows):
        yield ordered[start : start + rows]


def time_pass(call: Callable[[], object], tokens: int, *, passes: int = PASSES) -> float:
    """Tokens a second of the best pass."""
    seconds = []
    for _ in range(passes):
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return tokens / min(seconds)


def on_device(embedder: Embedder, sentences: Sentences, rows: int) -> None:
    embedder._cache.clear()
    with results_dropped(embedder):
        embedder.embed_tokens(sentences, layers="all", batch_size=rows, show_progress_bar=False)


def to_numpy(embedder: Embedder, sentences: Sentences, rows: int) -> None:
    embedder._cache.clear()
    embedder.encode(sentences, layers="all", batch_size=rows, show_progress_bar=False)


class AllenNLP:
    """Its biLM with our weights, in float32."""

    def __init__(self, model: LoadedModel, folder: Path) -> None:
        from allennlp.modules.elmo import _ElmoBiLm, batch_to_ids

        write_bilmtf(model, folder, overwrite=True)
        self._ids = batch_to_ids
        self._bilm = _ElmoBiLm(str(folder / "options.json"), str(folder / "weights.hdf5")).cuda().eval()

    def run(self, sentences: Sentences, rows: int, *, numpy: bool) -> None:
        with torch.no_grad():
            for batch in batches_of(sentences, rows):
                found = self._bilm(self._ids(batch).cuda())["activations"]
                if numpy:
                    [layer.cpu().numpy() for layer in found]


def flops_per_token(config: BiLSTMConfig) -> float:
    """Of the LSTM alone: token vectors are computed once for each distinct word."""
    D, P, H = config.input_dim, config.output_dim, config.cell_dim
    return 2.0 * config.layers * config.directions * (D * 4 * H + P * 4 * H + H * P)


def report(name: str, rate: float, flops: float, peak: float) -> None:
    share = f"{rate * flops / 1e12:6.1f} TFLOP/s {rate * flops / 1e12 / peak:6.1%} of gemm peak" if flops else ""
    print(f"  {name:44s} {rate / 1e3:9.1f}k tok/s {share}", flush=True)


def run(sentences: Sentences, sizes: list[str], rows: list[int], *, peers: list[str], profile: bool) -> None:
    peak = gemm_peak()
    lengths = [len(sentence) for sentence in sentences]
    tokens = sum(lengths)
    print(f"bfloat16 product {peak:.0f} TFLOP/s; {len(sentences):,} sentences, {tokens:,} tokens, ", end="")
    print(f"median {statistics.median(lengths):.0f}, longest {max(lengths)}")
    for size in sizes:
        model = make_model(size)
        with tempfile.TemporaryDirectory() as name:
            allennlp = _allennlp(model, Path(name) / "model") if "allennlp" in peers else None
            for batch in rows:
                print(f"{size} B={batch}")
                theirs = {}
                if allennlp is not None:
                    for kind in ("device", "numpy"):
                        allennlp.run(sentences[:SHORT_PASS], batch, numpy=False)
                        call = partial(allennlp.run, sentences, batch, numpy=kind == "numpy")
                        theirs[kind] = time_pass(call, tokens, passes=1)
                        report(f"AllenNLP, float32, {kind}", theirs[kind], 0, peak)
                for dtype in ("float32", "bfloat16"):
                    embedder = Embedder(make_model(size), device="cuda", precision=dtype)
                    flops = flops_per_token(embedder.bilm.config.lstm)  # type: ignore[arg-type]
                    for kind, function in (("device", on_device), ("numpy", to_numpy)):
                        for _ in range(2):  # kernels are compiled, then batches are recorded
                            function(embedder, sentences, batch)
                        rate = time_pass(partial(function, embedder, sentences, batch), tokens)
                        report(f"ours, {dtype}, {kind}", rate, flops if kind == "device" else 0, peak)
                        if kind in theirs:
                            print(f"    {rate / theirs[kind]:.1f} times AllenNLP")
                    if dtype == "bfloat16":
                        if profile:
                            print_kernels(kernels_of(partial(on_device, embedder, sentences[:batch], batch), top=30))
                        for peer in (peer for peer in peers if peer in LSTM):
                            with using(peer):
                                plain = Embedder(make_model(size), device="cuda", precision=dtype)
                                plain._forward = plain.bilm  # cuDNN allocates while it runs
                                on_device(plain, sentences[:SHORT_PASS], batch)
                                rate = time_pass(partial(on_device, plain, sentences, batch), tokens, passes=1)
                            report(f"with {LSTM[peer]}, {dtype}, device", rate, flops, peak)
                    del embedder
                    torch.cuda.empty_cache()


def _allennlp(model: LoadedModel, folder: Path) -> AllenNLP | None:
    try:
        return AllenNLP(model, folder)
    except ImportError as error:
        print(f"AllenNLP is not timed: {error}")
        return None


def read_sentences(path: Path | None) -> Sentences:
    if path is not None:
        return [line.split() for line in path.read_text("utf-8").splitlines() if line.strip()]
    generator = random.Random(0)
    words = [
        "".join(generator.choices("abcdefghijklmnopqrstuvwxyz", k=generator.randint(1, 12))) for _ in range(50_000)
    ]
    totals = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))  # once, not for each sentence
    return [
        generator.choices(words, cum_weights=totals, k=max(1, min(100, int(generator.lognormvariate(3.0, 0.5)))))
        for _ in range(8192)
    ]


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=Path)
    parser.add_argument("--sizes", default="small,medium,original")
    parser.add_argument("--rows", default="128,512,1024,2048")
    parser.add_argument("--peers", default="allennlp,cudnn,loop")
    parser.add_argument("--profile", action="store_true", help="list the kernels of a batch")
    arguments = parser.parse_args(argv)
    print(machine())
    sentences = read_sentences(arguments.sentences)
    peers = arguments.peers.split(",")
    run(sentences, arguments.sizes.split(","), numbers(arguments.rows), peers=peers, profile=arguments.profile)


if __name__ == "__main__":
    main()

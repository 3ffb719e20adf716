"""From text to files: how fast is each stage of `elmo embed` alone, and all of them together, beside the pure model?

    python -m benchmarks.bulk [my-model] [--device cuda] [--precision bfloat16] [--tokens 3000000] [--folder /dev/shm]

Makes a text of its own. `model` is tokens to vectors that stay where they were computed: the pure rate, to which all
others are set in ratio. `encode` is tokens to arrays of NumPy. `whole` is `embed_file`, from text file to file of
vectors, journal and all. The caches of words are emptied before each measurement; the best of the rounds counts. What
fails is printed with its traceback, and the rest goes on.
"""

import argparse
import os
import platform
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import elmo
from benchmarks.bulk.sampling import Sampler
from benchmarks.bulk.text import write_text
from benchmarks.gpu.dropped import results_dropped
from elmo.embed.bulk.job import embed_file
from elmo.embed.bulk.journal import Journal, digest_lines
from elmo.embed.bulk.options import BulkOptions
from elmo.embed.bulk.parts import embed_part, parts_of, read_source, shape_of, tokenizer_of
from elmo.embed.bulk.tokenizing import TokenizedLines, tokenized
from elmo.embed.bulk.writers.formats import Format, write_whole
from elmo.embed.bulk.writers.row import Line
from elmo.embed.embedder import Embedder

Parts = list[tuple[list[Line], TokenizedLines]]

ENCODE: dict[str, dict[str, Any]] = {
    "mean, float32": {"layers": "mean"},
    "mean, float16": {"layers": "mean", "dtype": "float16"},
    "top, float16": {"layers": "top", "dtype": "float16"},
    "all, float32": {"layers": "all"},
}
MOST_ENCODED = 400_000  # tokens: all layers of them in float32 are some gigabytes
FORMATS_TIMED: tuple[Format, ...] = ("parquet", "safetensors", "arrow")


class Bench:
    """Measures, prints, and knows the rate of the pure model."""

    def __init__(self, embedder: Embedder, source: Path, rounds: int, *, profile: bool, all_stages: bool) -> None:
        self.embedder, self.source, self.rounds = embedder, source, rounds
        self.profile, self.all_stages = profile, all_stages
        self.model_rate = 0.0

    def time(self, name: str, tokens: int, work: Callable[[], object], *, profiled: bool = False) -> float:
        seconds = []
        try:
            for _ in range(self.rounds):
                self.embedder._cache.clear()
                synchronize(self.embedder)
                begun = time.perf_counter()
                work()
                synchronize(self.embedder)
                seconds.append(time.perf_counter() - begun)
            rate = tokens / min(seconds)
            share = f"{rate / self.model_rate:6.1%} of the model's rate" if self.model_rate else ""
            all_of_them = " ".join(f"{taken:.2f}" for taken in seconds)
            print(f"{name:34s} {rate / 1e3:9.1f}k tokens/s  {share}  ({all_of_them} s)", flush=True)
            if profiled and self.profile:
                self.embedder._cache.clear()
                with Sampler() as sampler:
                    work()
                print(sampler.report(), flush=True)
        except Exception:
            print(f"{name}: failed\n{traceback.format_exc()}", flush=True)
            return 0.0
        return rate


def synchronize(embedder: Embedder) -> None:
    if embedder.device_name != "cpu":
        import torch

        torch.cuda.synchronize(embedder.device)


def stages(bench: Bench, options: BulkOptions, folder: Path, formats: list[Format]) -> None:
    embedder = bench.embedder
    source = str(bench.source)
    parts = list(parts_of(embedder, read_source(source), options))
    tokens = sum(len(found.sentences.ids) for _, found in parts)
    print(f"{sum(len(lines) for lines, _ in parts):,} lines, {tokens:,} tokens, {len(parts)} parts")

    def model() -> None:
        with results_dropped(embedder):
            for lines, found in parts:
                embed_part(embedder, lines, found, options)

    begun = time.perf_counter()
    model()
    synchronize(embedder)
    print(f"the first time, kernels compiled and batches recorded: {time.perf_counter() - begun:.1f} s")
    bench.model_rate = bench.time("model", tokens, model, profiled=True)
    graphs = getattr(embedder._forward, "_graphs", None)
    if graphs is not None:
        print(f"  {len(graphs)} recorded shapes, {len(embedder._forward._seen)} seen")  # type: ignore[attr-defined]

    if bench.all_stages:
        host_stages(bench, options, parts, folder, formats)
    sentences = first_sentences(parts, tokens=MOST_ENCODED)
    encoded = sum(map(len, sentences))
    parts.clear()
    for name, given in ENCODE.items():

        def encode(given: dict[str, Any] = given) -> None:
            embedder.encode(sentences, show_progress_bar=False, **given)

        bench.time(f"encode to numpy, {name}", encoded, encode, profiled=True)
    sentences.clear()
    for name in formats if bench.all_stages else []:
        with tempfile.TemporaryDirectory(dir=folder) as place:

            def embed(name: Format = name, place: str = place) -> None:
                embed_file(
                    embedder,
                    source,
                    f"{place}/output",
                    options=options,
                    output_format=name,
                    overwrite=True,
                    show_progress_bar=False,
                )

            bench.time(f"whole, {name}", tokens, embed, profiled=name == formats[0])


def first_sentences(parts: Parts, *, tokens: int) -> list[list[str]]:
    found: list[list[str]] = []
    for _, lines in parts:
        for n in range(len(lines.sentences.lengths)):
            if tokens <= 0:
                return found
            found.append(lines.sentences.words_of(n))
            tokens -= len(found[-1])
    return found


def host_stages(bench: Bench, options: BulkOptions, parts: Parts, folder: Path, formats: list[Format]) -> None:
    """What the host does before and behind the model."""
    embedder, source = bench.embedder, str(bench.source)
    tokens = sum(len(found.sentences.ids) for _, found in parts)
    cores = len(os.sched_getaffinity(0))
    tokenizer = tokenizer_of(embedder, options)
    for workers in dict.fromkeys([0, 1, min(4, cores), min(8, cores)]):

        def tokenize(workers: int = workers) -> None:
            for _ in tokenized(read_source(source), tokenizer, workers=workers):
                pass

        bench.time(f"tokenizing, {workers} processes", tokens, tokenize)
    whole = [embed_part(embedder, lines, found, options)[0] for lines, found in parts]
    shape = shape_of(embedder, options, source)

    def keep() -> None:
        with tempfile.TemporaryDirectory(dir=folder) as name:
            journal = Journal(Path(name))
            for part in whole:
                journal.append(part, lines_digest=digest_lines(part.lines))

    bench.time("journal", tokens, keep)
    for name in formats:
        with tempfile.TemporaryDirectory(dir=folder) as place:

            def write(name: Format = name, place: str = place) -> None:
                write_whole(name, whole, Path(place, "output"), shape)

            bench.time(f"writing, {name}", tokens, write)


def check_equal(embedder: Embedder) -> None:
    """The fast way and the plain way give the same vectors."""
    rng = np.random.default_rng(0)
    count = 20 if embedder.device_name == "cpu" else 3000
    sentences = [[f"w{rng.integers(300)}" for _ in range(rng.integers(0, 60))] for _ in range(count)]
    for layers in ("mean", "all"):
        full = embedder.encode(sentences, layers=layers, show_progress_bar=False)
        half = embedder.encode(sentences, layers=layers, dtype="float16", show_progress_bar=False)
        again = embedder.encode(sentences, layers=layers, show_progress_bar=False)
        assert all(np.array_equal(a, b) for a, b in zip(full, again, strict=True)), "a second call differs"
        with np.errstate(over="ignore"):
            assert all(np.array_equal(a.astype(np.float16), b) for a, b in zip(full, half, strict=True)), "float16"
    print("float16 of the device is float16 of the host, and a second call gives the same bits")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?")
    parser.add_argument("--size", choices=["small", "medium", "original"], help="random weights of this size")
    parser.add_argument("--encode", action="store_true", help="only the model and `encode`")
    parser.add_argument("--device")
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--dtype", default="float16", choices=["float16", "float32"], help="what files hold")
    parser.add_argument("--layers", default="mean", choices=["mean", "top", "all"])
    parser.add_argument("--tokens", type=int, default=3_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--formats", default=",".join(FORMATS_TIMED))
    parser.add_argument("--folder", default="/dev/shm", help="where files are written; a RAM disk leaves the disk out")
    parser.add_argument("--profile", action="store_true", help="where the threads are, of the model and the whole")
    arguments = parser.parse_args()
    if arguments.size is None:
        embedder = elmo.load(arguments.model, device=arguments.device, precision=arguments.precision)
    else:
        from benchmarks.gpu.inference import make_model

        embedder = Embedder(make_model(arguments.size), device=arguments.device, precision=arguments.precision)
    print(f"{embedder!r}, {platform.processor() or platform.machine()}, {len(os.sched_getaffinity(0))} cores")
    print(
        f"load {os.getloadavg()}, Python {platform.python_version()}, NumPy {np.__version__}, elmo {elmo.__version__}"
    )
    if embedder.device_name != "cpu":
        from benchmarks.gpu.timing import machine

        print(machine())
    try:
        check_equal(embedder)
    except Exception:
        traceback.print_exc()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        source = Path(name, "text.txt")
        write_text(source, tokens=arguments.tokens)
        bench = Bench(embedder, source, arguments.rounds, profile=arguments.profile, all_stages=not arguments.encode)
        options = BulkOptions(layers=arguments.layers, dtype=arguments.dtype)
        stages(bench, options, Path(name), arguments.formats.split(","))


if __name__ == "__main__":
    main()

"""From text to files: how fast is each stage of `elmo embed` alone, and all of them together, beside the pure model?

    python -m benchmarks.bulk [my-model] [--device cuda] [--precision bfloat16] [--tokens 3000000] [--folder /dev/shm]

Makes a text of its own. `model` is tokens to vectors that stay where they were computed: the pure rate, of which all
others are a share. `encode` is tokens to arrays of NumPy. `whole` is `embed_file`, from text file to file of vectors,
journal and all. `host` are the stages before and behind the model, each alone. `around` is the whole without the model
(`standin.py`), as it runs beside a GPU, with the processor seconds of each kind of thread: what one of them spends is a
bound for the whole, and all but copies, hashes and files share Python's one interpreter. It needs no GPU. `ray` is the
command with `--engine ray` and one worker beside the command without (`ray.py`); give it 100,000 tokens or more.
`share` lets the model and the whole take turns, round by round: what share of the model's rate is left.

Word vectors are forgotten before each measurement; the best of the rounds counts, and the first one has compiled
kernels where there are any. What fails is printed with its traceback, and the rest goes on.
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
from benchmarks.bulk.ray import time_ray
from benchmarks.bulk.sampling import Sampler
from benchmarks.bulk.text import write_text
from benchmarks.bulk.usage import Usage
from benchmarks.gpu.dropped import results_dropped
from elmo.embed.bulk.job import embed_file
from elmo.embed.bulk.journal import Journal, digest_lines
from elmo.embed.bulk.options import BulkOptions
from elmo.embed.bulk.parts import available_cores, embed_part, parts_of, read_source, shape_of, tokenizer_of
from elmo.embed.bulk.tokenizing import TokenizedLines, tokenized
from elmo.embed.bulk.writers.formats import Format, write_whole
from elmo.embed.bulk.writers.row import Line
from elmo.embed.embedder import Embedder

Parts = list[tuple[list[Line], TokenizedLines]]

ENCODE: dict[str, dict[str, Any]] = {
    "all layers, float32": {"layers": "all"},
    "top layer, float16": {"layers": "top", "dtype": "float16"},
    "mean, float16": {"layers": "mean", "dtype": "float16"},
    "mean, float32": {"layers": "mean"},
}
PROFILED = [ENCODE["all layers, float32"], ENCODE["top layer, float16"]]
MOST_ENCODED = 400_000  # tokens: all layers of them in float32 are some gigabytes
FORMATS_TIMED: tuple[Format, ...] = ("parquet", "safetensors", "arrow")


class Bench:
    """Measures the stages of one model and one text."""

    def __init__(self, embedder: Embedder, source: Path, options: BulkOptions, *, rounds: int, profile: bool) -> None:
        self.embedder, self.source, self.options = embedder, source, options
        self.rounds, self.profile = rounds, profile
        self.parts: Parts = list(parts_of(embedder, read_source(str(source)), options))
        self.tokens = sum(len(found.sentences.ids) for _, found in self.parts)
        self.rates: dict[str, float] = {}
        self.processor_rates: dict[str, float] = {}

    def time(self, name: str, work: Callable[[], object], *, tokens: int | None = None, profiled: bool = False) -> None:
        try:
            seconds = [self._once(work) for _ in range(self.rounds)]
            walls, processor = zip(*seconds, strict=True)
            self.rates[name] = (tokens or self.tokens) / min(walls)
            self.processor_rates[name] = (tokens or self.tokens) / min(processor)
            each = " ".join(f"{taken:.2f}" for taken in walls)
            print(f"{name:34s} {self.rates[name] / 1e3:9.1f}k tokens/s  ({each} s)", flush=True)
            if profiled and self.profile:
                with Sampler() as sampler:
                    self._once(work)
                print(sampler.report(), flush=True)
        except Exception:
            print(f"{name}: failed\n{traceback.format_exc()}", flush=True)

    def _once(self, work: Callable[[], object]) -> tuple[float, float]:
        """Seconds by the wall, and of processor time in this process."""
        self.embedder._cache.clear()
        synchronize(self.embedder)
        begun, processor = time.perf_counter(), time.process_time()
        work()
        synchronize(self.embedder)
        return time.perf_counter() - begun, time.process_time() - processor

    def report(self) -> None:
        """Every rate as a share of the model's: by the wall, and on a CPU also by processor time."""
        for name, rate in self.rates.items() if "model" in self.rates else ():
            share = f"{rate / self.rates['model']:9.3f} of the model's rate"
            if self.embedder.device_name == "cpu":
                share += f", {self.processor_rates[name] / self.processor_rates['model']:.3f} by processor time"
            print(f"{name:34s} {share}")


def synchronize(embedder: Embedder) -> None:
    if embedder.device_name != "cpu":
        import torch

        torch.cuda.synchronize(embedder.device)


def time_model(bench: Bench) -> None:
    """Tokens to vectors, which stay where they are."""
    bench.time("model", lambda: embed_parts(bench), profiled=True)
    graphs = getattr(bench.embedder._forward, "_graphs", None)
    if graphs is not None:
        print(f"  {len(graphs)} recorded shapes of {len(bench.embedder._forward._seen)}")  # type: ignore[attr-defined]


def time_whole(bench: Bench, folder: Path, formats: list[Format]) -> None:
    """From text file to file of vectors."""
    for name in formats:
        with tempfile.TemporaryDirectory(dir=folder) as place:

            def embed(name: Format = name, place: str = place) -> None:
                embed_text(bench, bench.embedder, f"{place}/output", name)

            bench.time(f"whole, {name}", embed, profiled=name == formats[0])


def time_share(bench: Bench, folder: Path, name: Format) -> None:
    """The whole beside the model, in turns: the median of the rounds, and the middle half of them."""
    walls, processors = [], []
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for _ in range(bench.rounds):
            model = bench._once(lambda: embed_parts(bench))
            whole = bench._once(lambda: embed_text(bench, bench.embedder, f"{place}/output", name))
            walls.append(model[0] / whole[0])
            processors.append(model[1] / whole[1])
    for kind, ratios in (("the clock", walls), ("processor time", processors)):
        low, middle, high = np.quantile(ratios, [0.25, 0.5, 0.75])
        print(f"share, {name}: {middle:.3f} of the model's rate by {kind} ({low:.3f} to {high:.3f})", flush=True)


def embed_parts(bench: Bench) -> None:
    """Tokens to vectors."""
    with results_dropped(bench.embedder):
        for lines, found in bench.parts:
            embed_part(bench.embedder, lines, found, bench.options)


def embed_text(bench: Bench, embedder: Embedder, output: str, name: Format) -> None:
    """From text file to file of vectors."""
    embed_file(
        embedder,
        str(bench.source),
        output,
        options=bench.options,
        output_format=name,
        overwrite=True,
        show_progress_bar=False,
    )


def time_around(bench: Bench, folder: Path, formats: list[Format]) -> None:
    """The whole with a model that takes no time, and who is at work in it."""
    from benchmarks.bulk.standin import NoTimeEmbedder

    embedder = NoTimeEmbedder(bench.embedder.model)
    for name in formats:
        with tempfile.TemporaryDirectory(dir=folder) as place:
            least: Usage | None = None

            def embed(name: Format = name, place: str = place) -> None:
                nonlocal least
                embedder._cache.clear()
                with Usage() as usage:
                    embed_text(bench, embedder, f"{place}/output", name)
                least = usage if least is None or usage.here < least.here else least

            bench.time(f"around, {name}", embed, profiled=name == formats[0])
            if least is not None:
                print(least.report(tokens=bench.tokens), flush=True)


def time_encode(bench: Bench) -> None:
    """Tokens to arrays of NumPy."""
    sentences = first_sentences(bench.parts, tokens=MOST_ENCODED)
    for name, given in ENCODE.items():

        def encode(given: dict[str, Any] = given) -> None:
            bench.embedder.encode(sentences, show_progress_bar=False, **given)

        bench.time(f"encode, {name}", encode, tokens=sum(map(len, sentences)), profiled=given in PROFILED)


def first_sentences(parts: Parts, *, tokens: int) -> list[list[str]]:
    found: list[list[str]] = []
    for _, lines in parts:
        for n in range(len(lines.sentences.lengths)):
            if tokens <= 0:
                return found
            found.append(lines.sentences.words_of(n))
            tokens -= len(found[-1])
    return found


def time_host(bench: Bench, folder: Path, formats: list[Format]) -> None:
    """What the host does before and behind the model."""
    embedder, source = bench.embedder, str(bench.source)
    cores = available_cores()
    tokenizer = tokenizer_of(embedder, bench.options)
    for workers in dict.fromkeys([0, 1, min(4, cores), min(8, cores)]):

        def tokenize(workers: int = workers) -> None:
            for _ in tokenized(read_source(source), tokenizer, workers=workers):
                pass

        bench.time(f"tokenizing, {workers} processes", tokenize)
    whole = [embed_part(embedder, lines, found, bench.options)[0] for lines, found in bench.parts]
    shape = shape_of(embedder, bench.options, source)

    def keep() -> None:
        with tempfile.TemporaryDirectory(dir=folder) as name:
            journal = Journal(Path(name))
            for part in whole:
                journal.append(part, lines_digest=digest_lines(part.lines))

    bench.time("journal, vectors and all", keep)
    for name in formats:
        with tempfile.TemporaryDirectory(dir=folder) as place:

            def write(name: Format = name, place: str = place) -> None:
                write_whole(name, whole, Path(place, "output"), shape)

            bench.time(f"writing, {name}", write)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?")
    parser.add_argument("--size", choices=["small", "medium", "original"], help="random weights of this size")
    parser.add_argument("--device")
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--dtype", default="float16", choices=["float16", "float32"], help="what files hold")
    parser.add_argument("--layers", default="mean", choices=["mean", "top", "all"])
    parser.add_argument("--tokens", type=int, default=3_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--stages", default="model,whole,encode,host", help="which, and in which order")
    parser.add_argument("--formats", default=",".join(FORMATS_TIMED))
    parser.add_argument("--folder", default="/dev/shm", help="where files are written; a RAM disk leaves the disk out")
    parser.add_argument(
        "--profile", action="store_true", help="where the threads are in the model, the whole, `encode`"
    )
    arguments = parser.parse_args()
    if arguments.size is None:
        embedder = elmo.load(arguments.model, device=arguments.device, precision=arguments.precision)
    else:
        from benchmarks.gpu.inference import make_model

        embedder = Embedder(make_model(arguments.size), device=arguments.device, precision=arguments.precision)
    print(f"{embedder!r}, {platform.processor() or platform.machine()}, {available_cores()} cores")
    print(
        f"load {os.getloadavg()}, Python {platform.python_version()}, NumPy {np.__version__}, elmo {elmo.__version__}"
    )
    if embedder.device_name != "cpu":
        from benchmarks.gpu.timing import machine

        print(machine(), flush=True)
    formats: list[Format] = arguments.formats.split(",")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        source = folder / "text.txt"
        write_text(source, tokens=arguments.tokens)
        options = BulkOptions(layers=arguments.layers, dtype=arguments.dtype)
        bench = Bench(embedder, source, options, rounds=arguments.rounds, profile=arguments.profile)
        print(
            f"{sum(len(lines) for lines, _ in bench.parts):,} lines, {bench.tokens:,} tokens, {len(bench.parts)} parts"
        )
        for stage in arguments.stages.split(","):
            match stage:
                case "model":
                    time_model(bench)
                case "whole":
                    time_whole(bench, folder, formats)
                case "encode":
                    time_encode(bench)
                case "host":
                    time_host(bench, folder, formats)
                case "around":
                    time_around(bench, folder, formats)
                case "share":
                    time_share(bench, folder, formats[0])
                case "ray":
                    model = [] if arguments.model is None else ["--model", arguments.model]
                    given = [*model, "--dtype", arguments.dtype, "--device", embedder.device_name]
                    time_ray(folder, tokens=arguments.tokens, given=given)
                case _:
                    parser.error(f"--stages has {stage!r}; model, whole, encode, host, around, share and ray are known")
        bench.report()


if __name__ == "__main__":
    main()

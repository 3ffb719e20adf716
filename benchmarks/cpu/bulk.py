"""What share of the model's own speed `elmo embed` keeps, from text file to Parquet file.

    python -m benchmarks.cpu.bulk my-model --text sentences.txt --lines 100000

Embeds the same lines twice in turn: as tokens in memory, vectors thrown away (the pure model), and from a raw text file
to Parquet (tokenizing, float16, journal and output included). The text is repeated until it has enough lines. Prints
the tokens a second of both, by the wall and by CPU time, and the share.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

import elmo
from elmo.embed.bulk.job import embed_file
from elmo.embed.bulk.options import BulkOptions
from elmo.embed.bulk.parts import embed_part, parts_of
from elmo.embed.bulk.writers.row import Line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--text", required=True, help="sentences, one a line")
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    embedder = elmo.load(arguments.model, device="cpu")
    given = [line for line in Path(arguments.text).read_text("utf-8").splitlines() if line.strip()]
    lines = (given * (arguments.lines // len(given) + 1))[: arguments.lines]
    options = BulkOptions(dtype="float16")
    parts = list(parts_of(embedder, (Line(n, text, None, n) for n, text in enumerate(lines)), options))
    count = sum(len(piece) for _, tokens in parts for pieces in tokens for piece in pieces)

    def pure() -> None:
        for part, tokens in parts:
            embed_part(embedder, part, tokens, options)

    best = {}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "text.txt")
        source.write_text("\n".join(lines) + "\n", encoding="utf-8")

        def bulk() -> None:
            embed_file(embedder, str(source), f"{folder}/out.parquet", options=options, overwrite=True)

        for _ in range(arguments.rounds):
            for name, work in (("pure model", pure), ("elmo embed", bulk)):
                embedder._cache.clear()
                found = timed(work)
                best[name] = tuple(map(min, found, best.get(name, found)))
        size = Path(folder, "out.parquet").stat().st_size
    print(f"{len(lines)} lines, {count} tokens, threads: {arguments.threads}, load {os.getloadavg()}")
    for name, (wall, cpu) in best.items():
        print(f"{name}: {count / wall:.0f} tokens/s, {count / cpu:.0f} tokens a second of CPU time")
    shares = [a / b for a, b in zip(best["pure model"], best["elmo embed"], strict=True)]
    print(f"share {shares[0]:.2f} by the wall, {shares[1]:.2f} by CPU time; {size / 1e6:.0f} MB written")


def timed(work: Callable[[], None]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


if __name__ == "__main__":
    main()

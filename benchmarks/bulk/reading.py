"""A file of a million lines, read back at random: what does a line cost, and is any of it copied?

    python -m benchmarks.bulk.reading [--lines 1000000] [--tokens 12] [--dim 64] [--formats safetensors,arrow,parquet]

Writes a file of each format with random vectors in float16, of lines with 0 to twice `--tokens` tokens, and reads lines
at random, each with its text, its words and one number of its vectors. The first line opens the file. Whether vectors
are copied is asked of the system: do they lie in a place where the file is mapped? (Linux)
"""

import argparse
import random
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

import elmo
from elmo.embed.bulk.writers.formats import Format, write_whole
from elmo.embed.bulk.writers.part import EmbeddedPart
from elmo.embed.bulk.writers.row import Line, Shape
from elmo.embed.numbered import running_total

LINES_IN_PART = 16_384
WORDS = 20_000


def make_parts(*, lines: int, tokens: int, dim: int, seed: int = 0) -> Iterator[EmbeddedPart]:
    chance = np.random.default_rng(seed)
    words = [f"word{n}" for n in range(WORDS)]
    for start in range(0, lines, LINES_IN_PART):
        count = min(LINES_IN_PART, lines - start)
        lengths = chance.integers(0, 2 * tokens + 1, count)
        first_tokens = running_total(lengths)
        ids = chance.integers(0, WORDS, int(first_tokens[-1])).astype(np.int32)
        texts = [" ".join([words[n] for n in ids[a:b]]) for a, b in pairwise(first_tokens.tolist())]
        filled = lengths > 0
        yield EmbeddedPart(
            lines=[Line(start + n, text, None, start + n) for n, text in enumerate(texts)],
            words=words,
            ids=ids,
            first_tokens=first_tokens,
            sentence_starts=first_tokens[:-1][filled],
            first_sentences=running_total(filled.astype(np.int64)),
            pooled=False,
            vectors=chance.standard_normal((len(ids), dim), np.float32).astype(np.float16),
        )


def is_mapped(array: np.ndarray, path: Path) -> bool:
    """Whether an array lies where the file is mapped into memory."""
    address = array.__array_interface__["data"][0]
    for line in Path("/proc/self/maps").read_text().splitlines():
        place, *_, name = [*line.split(maxsplit=5), ""][:6]
        start, stop = (int(end, 16) for end in place.split("-"))
        if start <= address < stop:
            return name.strip() == str(path)
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--tokens", type=int, default=12, help="of a line, on average")
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--reads", type=int, default=2000)
    parser.add_argument("--formats", default="safetensors,arrow,parquet")
    parser.add_argument("--folder", help="where the files are written")
    arguments = parser.parse_args()
    shape = Shape(dim=arguments.dim, layers=None, pooled=False, dtype="float16", files=False)
    formats: list[Format] = arguments.formats.split(",")
    for name in formats:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            path = Path(folder).resolve() / f"vectors.{name}"
            parts = make_parts(lines=arguments.lines, tokens=arguments.tokens, dim=arguments.dim)
            write_whole(name, parts, path, shape)
            chance = random.Random(0)
            begun = time.process_time()
            mapped = 0
            with elmo.read_vectors(path) as lines:
                lines[0]
                opened = time.process_time() - begun
                seconds = []
                for _ in range(arguments.reads):
                    number = chance.randrange(len(lines))
                    before = time.process_time()
                    line = lines[number]
                    line.vectors.sum()
                    seconds.append(time.process_time() - before)
                    mapped += not line.tokens or is_mapped(line.vectors, path)
            typical, late, worst = (1e3 * np.quantile(seconds, q) for q in (0.5, 0.99, 1))
            print(
                f"{name:12s} {path.stat().st_size / 1e9:5.2f} GB, opened in {1e3 * opened:.1f} ms; "
                f"a line at random: median {typical:.3f} ms, 99 % under {late:.3f} ms, at most {worst:.3f} ms; "
                f"{mapped} of {arguments.reads} not copied",
                flush=True,
            )


if __name__ == "__main__":
    main()

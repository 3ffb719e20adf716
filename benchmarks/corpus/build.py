"""Words a second of `build_corpus`, from files to the finished store, for tokenized and for raw text.

    python -m benchmarks.corpus.build --workers 2                      # generated English-like text
    python -m benchmarks.corpus.build TEXT --megabytes 50 --workers 2  # raw text of your own, one paragraph a line

Raw text is read by the treebank rule. The tokenized text is the same text, tokenized before the clock starts, one
sentence a line. Prints a Markdown table; seconds are the median of the repeats, with the smallest and the largest.
Processor seconds, of all processes together, say more where other programs run at the same time.
"""

import argparse
import os
import platform
import random
import resource
import sys
import tempfile
import time
from datetime import date
from itertools import accumulate
from pathlib import Path
from statistics import median

from elmo.corpus import CorpusStore, build_corpus
from elmo.text.tokenizer import Tokenizer


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", nargs="?", type=Path, help="raw text, UTF-8; generated if left out")
    parser.add_argument("--megabytes", type=float, default=50, help="how much of it to use")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args(argv)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = int(arguments.megabytes * 1e6)
        raw = folder / "raw.txt"
        raw.write_bytes(generate(size) if arguments.text is None else beginning(arguments.text, size))
        tokenized = folder / "tokenized.txt"
        tokenize(raw, tokenized)
        origin = "generated text" if arguments.text is None else arguments.text.name
        machine = f"{os.cpu_count()} processors ({platform.machine()}), Python {platform.python_version()}"
        print(f"{origin}, {raw.stat().st_size / 1e6:.0f} MB; {arguments.workers} workers")
        print(f"{machine}, {date.today()}, load {os.getloadavg()[0]:.1f}")
        print("\n| text | words | types | seconds | words/s | processor seconds | words per processor second |")
        print("|---|---|---|---|---|---|---|")
        for label, path in (("tokenized", tokenized), ("raw", raw)):
            measure(label, path, folder, workers=arguments.workers, repeats=arguments.repeats)
    caller, workers = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    unit = 1e6 if sys.platform == "darwin" else 1e3
    print(f"\nmost memory: {caller / unit:.0f} MB in this process, {workers / unit:.0f} MB in a worker")


def measure(label: str, path: Path, folder: Path, *, workers: int, repeats: int) -> None:
    seconds, processor = [], []
    for repeat in range(repeats):
        start, processor_start = time.perf_counter(), processor_seconds()
        store = build_corpus(
            path,
            folder / f"{label}{repeat}",
            tokenized=label == "tokenized",
            workers=workers,
            progress=lambda _: None,
        )
        seconds.append(time.perf_counter() - start)
        processor.append(processor_seconds() - processor_start)
    words = words_of(store)
    wall, used = median(seconds), median(processor)
    spread = f"{wall:.1f} ({min(seconds):.1f}-{max(seconds):.1f})"
    print(f"| {label} | {words:,} | {store.types:,} | {spread} | {words / wall:,.0f} ", end="")
    print(f"| {used:.1f} | {words / used:,.0f} |", flush=True)


def processor_seconds() -> float:
    """Of this process and of the workers that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def words_of(store: CorpusStore) -> int:
    return sum(counts.words for counts in store.counts.values())


def beginning(path: Path, size: int) -> bytes:
    """The first `size` bytes of a file, to the end of a line."""
    with open(path, "rb") as file:
        return file.read(size) + file.readline()


def generate(size: int) -> bytes:
    """Paragraphs of made-up words, as frequent as Zipf says, with the punctuation of English prose."""
    generator = random.Random(0)
    syllables = [a + b for a in "bcdfghklmnprstvw" for b in ("a", "e", "i", "o", "u", "an", "er", "ing", "ion")]
    words = ["".join(generator.choices(syllables, k=generator.choice((1, 2, 2, 3, 4)))) for _ in range(100_000)]
    totals = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))  # once, not for each sentence
    lines: list[str] = []
    written = 0
    while written < size:
        sentences = []
        for _ in range(generator.randint(2, 8)):
            chosen = generator.choices(words, cum_weights=totals, k=generator.randint(6, 30))
            chosen[0] = chosen[0].capitalize()
            chosen[len(chosen) // 2] += generator.choice((",", ",", "", ";", " don't", " (he's)"))
            sentences.append(" ".join(chosen) + generator.choice((".", ".", ".", "?", "!")))
        lines.append(" ".join(sentences))
        written += len(lines[-1]) + 1
    return "\n".join(lines).encode("utf-8") + b"\n"


def tokenize(raw: Path, tokenized: Path) -> None:
    tokenizer = Tokenizer()
    with (
        open(raw, encoding="utf-8", newline="\n") as lines,
        open(tokenized, "w", encoding="utf-8", newline="\n") as out,
    ):
        for line in lines:
            out.writelines(" ".join(tokens.words) + "\n" for tokens in tokenizer.sentences(line))


if __name__ == "__main__":
    main()

"""How fast an index is searched, beside NumPy and FAISS over the same vectors, in one run.

    python -m benchmarks.index.search --tokens 1000000

The vectors are random (search compares all of them, whatever they are); the words are as frequent as those of a text
(Zipf). The index is made by `build_index`, with the model left out, so that what indexing itself takes is seen.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

import elmo
from elmo.analysis.index import WordIndex, build_index, open_index
from elmo.analysis.index.vectors import unit_rows
from elmo.embed.embedder import Embedder
from elmo.ops.cpu.threads import CPU_THREADS, VARIABLE

WORDS_IN_SENTENCE = 20


class RandomVectors(Embedder):
    """An embedder whose vectors are random: everything but the model."""

    def embed_tokens(self, sentences: Sequence[Sequence[str]], **options: Any) -> list[Any]:
        layers = (self.layer_count,) if options["layers"] == "all" else ()
        chance = np.random.default_rng(len(sentences))
        lengths = [len(sentence) for sentence in sentences]
        flat = chance.standard_normal((*layers, sum(lengths), self.dim), np.float32)
        return np.split(flat, np.cumsum(lengths)[:-1], axis=-2)


def write_text(path: Path, tokens: int, seed: int) -> None:
    """Words of a Zipf distribution over 50,000, 20 a sentence."""
    chance = np.random.default_rng(seed)
    ranks = np.arange(1, 50_001)
    words = np.char.add("w", ranks.astype(str))
    drawn = chance.choice(words, size=tokens, p=1 / ranks / (1 / ranks).sum())
    with open(path, "w", encoding="utf-8") as file:
        for start in range(0, tokens, WORDS_IN_SENTENCE):
            file.write(" ".join(drawn[start : start + WORDS_IN_SENTENCE]) + "\n")


def timed(work: Callable[[], object], repeats: int) -> dict[str, float]:
    """Milliseconds: the median and the range of some calls, behind one that is not counted."""
    work()
    took = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        took.append(1000 * (time.perf_counter() - begun))
    return {"ms": round(statistics.median(took), 2), "least": round(min(took), 2), "most": round(max(took), 2)}


def measure_index(index: WordIndex, query: Any, repeats: int) -> dict[str, Any]:
    """Searches and look-ups; the word is the most frequent one, one of the middle, or a rare one."""
    frequent = index.words.most_frequent(1000)
    words = {"frequent": frequent[0], "middling": frequent[99], "rare": frequent[-1]}
    found: dict[str, Any] = {"search all words": timed(lambda: index.search(query, count=10), repeats)}
    found["search all words, centred"] = timed(lambda: index.search(query, count=10, centred=True), repeats)
    found["search all words, 8 questions"] = timed(lambda: index.search_many(np.stack([query] * 8)), repeats)
    for kind, (word, count) in words.items():
        name = f"a {kind} word ({count:,} uses)"
        found[f"search {name}"] = timed(
            lambda word=word: index.search(query, count=10, words="same", word=word), repeats
        )
        found[f"uses of {name}: places"] = timed(
            lambda word=word: (index.uses(word).sentences, index.uses(word).places), repeats
        )
        found[f"uses of {name}: vectors"] = timed(lambda word=word: index.uses(word).vectors(), repeats)
    return found


def measure_peers(index: WordIndex, query: Any, repeats: int) -> dict[str, Any]:
    """NumPy's float32 product over all vectors in memory; FAISS where it is installed."""
    vectors = index.vectors(np.arange(len(index)))
    unit = unit_rows(query)

    def by_numpy() -> object:
        cosines = vectors @ unit
        return np.argpartition(cosines, -10)[-10:]

    found = {"NumPy float32, all in memory": timed(by_numpy, repeats)}
    try:
        import faiss
    except ImportError:
        return found
    faiss.omp_set_num_threads(CPU_THREADS.count)
    half = faiss.ScalarQuantizer.QT_fp16
    for name, make in {
        "FAISS Flat (float32)": lambda: faiss.IndexFlatIP(index.dim),
        "FAISS SQfp16": lambda: faiss.IndexScalarQuantizer(index.dim, half, faiss.METRIC_INNER_PRODUCT),
    }.items():
        made = make()
        made.add(vectors)
        found[name] = timed(lambda made=made: made.search(unit[None], 10), repeats)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--store", choices=["float16", "int8"], default="float16")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-peers", action="store_true", help="do without them: they hold all vectors in memory")
    parser.add_argument("--folder", type=Path, help="keep the index there, and measure one that is there already")
    options = parser.parse_args()
    os.environ[VARIABLE] = str(options.threads)  # read when a kernel first asks
    with tempfile.TemporaryDirectory(prefix="elmo-index-") as scratch:
        folder = (options.folder or Path(scratch)) / "index"
        told: dict[str, Any] = {
            "threads": options.threads,
            "machine": platform.processor() or platform.machine(),
            "date": datetime.now().strftime("%Y-%m-%d"),
        }
        if not folder.exists():
            text = Path(scratch) / "text.txt"
            write_text(text, options.tokens, options.seed)
            embedder = RandomVectors(elmo.load(device="cpu").model, device="cpu")
            folder.parent.mkdir(parents=True, exist_ok=True)
            begun = time.perf_counter()
            build_index(embedder, [text], folder, store=options.store, tokenized=True)
            told["seconds to build (random vectors)"] = round(time.perf_counter() - begun, 1)
            told["peak megabytes of the build"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        begun = time.perf_counter()
        index = open_index(folder)
        told["ms to open"] = round(1000 * (time.perf_counter() - begun), 1)
        query = np.random.default_rng(options.seed + 1).standard_normal(index.dim).astype(np.float32)
        told |= {
            "tokens": len(index),
            "words": len(index.words),
            "dim": index.dim,
            "store": index.manifest.store,
            "megabytes": round(sum(path.stat().st_size for path in folder.iterdir()) / 1e6),
        }
        for name, value in told.items():
            print(f"{name:44s} {value}")
        rows = measure_index(index, query, options.repeats)
        if not options.no_peers:
            rows |= measure_peers(index, query, options.repeats)
        numpy_ms = rows.get("NumPy float32, all in memory", {}).get("ms")
        for name, row in rows.items():
            ratio = f"{row['ms'] / numpy_ms:8.3f} of NumPy" if numpy_ms else ""
            print(f"{name:44s} {row['ms']:9.2f} ms ({row['least']:.2f} to {row['most']:.2f}) {ratio}")
        print(json.dumps({**told, "rows": rows}))


if __name__ == "__main__":
    main()

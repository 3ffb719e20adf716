"""Words per second of each tokenizer rule and of sentence splitting, with NLTK's plain calls as the peer.

    python -m benchmarks.text.tokenizing [FILE] [--words 200000] [--repeats 3]

Without FILE the text is generated. A word is what `str.split()` gives, for all rows. Each row has a process to itself;
"first" is its first pass over the text, after the imports and with empty caches, "best" the fastest of the later ones.
The seconds are the processor's, so that other work on the machine counts little.
"""

import argparse
import os
import platform
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from itertools import accumulate
from multiprocessing import get_context

from elmo.text.lines import read_lines
from elmo.text.tokenizer import Tokenizer


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", help="text, one paragraph a line; generated when left out")
    parser.add_argument("--words", type=int, default=200_000, help="how many words to take")
    parser.add_argument("--repeats", type=int, default=3, help="passes after the first")
    options = parser.parse_args(argv)

    lines = take((line for _, line in read_lines(options.file)) if options.file else generate(), options.words)
    words = sum(len(line.split()) for line in lines)
    print(f"{options.file or 'generated text'}: {words:,} words in {len(lines):,} lines")
    print(
        f"Python {platform.python_version()}, nltk {version('nltk')}, regex {version('regex')}, {os.cpu_count()} cores"
    )
    print(f"{'':46}{'first':>12}{'best':>12}  words/s")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as processes:
        for name in rows():
            first, best = processes.submit(measure, name, lines, options.repeats).result()
            print(f"{name:46}{words / first:12,.0f}{words / best:12,.0f}", flush=True)


def rows() -> dict[str, Callable[[str], object]]:
    """What is measured: a name and what it does with a line."""
    from nltk.tokenize.destructive import NLTKWordTokenizer
    from tests.text.nltk_reference import nltk_punkt

    peer, punkt = NLTKWordTokenizer(), nltk_punkt()
    english, german = Tokenizer("treebank", "en"), Tokenizer("unicode", "de")
    return {
        "peer: NLTKWordTokenizer.tokenize": peer.tokenize,
        "treebank: tokenize": english.tokenize,
        "unicode: tokenize": german.tokenize,
        "whitespace: tokenize": Tokenizer("whitespace").tokenize,
        "peer: PunktSentenceTokenizer.span_tokenize": lambda line: list(punkt.span_tokenize(line)),
        "en: split_sentences": english.split_sentences,
        "de: split_sentences": german.split_sentences,
        "peer: both": lambda line: [peer.tokenize(line[a:b]) for a, b in punkt.span_tokenize(line)],
        "treebank, en: sentences": english.sentences,
        "unicode, de: sentences": german.sentences,
    }


def measure(name: str, lines: list[str], repeats: int) -> tuple[float, float]:
    """Processor seconds of the first pass over the lines, and of the fastest later one."""
    run = rows()[name]
    run("It's late... Mr. X. The end.")  # imports
    seconds = []
    for _ in range(1 + repeats):
        began = time.process_time()
        for line in lines:
            run(line)
        seconds.append(time.process_time() - began)
    return seconds[0], min(seconds[1:] or seconds)


def take(lines: Iterable[str], words: int) -> list[str]:
    """As many lines as have that many words."""
    taken = []
    for line in lines:
        taken.append(line)
        words -= len(line.split())
        if words <= 0:
            break
    return taken


def generate(seed: int = 0) -> Iterator[str]:
    """Paragraphs without end, with about as many different words, contractions and marks as real text has."""
    rng = random.Random(seed)
    syllables = [c + v + e for c in "bdfgklmnprst" for v in "aeiou" for e in ("", "n", "r", "st")]
    lexicon = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(40_000)]
    totals = list(accumulate(1 / (rank + 3) for rank in range(len(lexicon))))  # Zipf's law
    extras = ["don't", "it's", "can't", "we've", "$5,000", "(so", "far)", "Mr.", "U.S.", "1990", "—", "e.g.", "25%"]
    while True:
        sentences = []
        for _ in range(rng.randint(1, 6)):
            words = rng.choices(lexicon, cum_weights=totals, k=rng.randint(4, 35))
            words = [word + "," if rng.random() < 0.06 else word for word in words]
            words.insert(rng.randrange(len(words)), rng.choice(extras))
            sentences.append(" ".join(words).capitalize() + rng.choice([".", ".", ".", "?", '."']))
        yield " ".join(sentences)


if __name__ == "__main__":
    main(sys.argv[1:])

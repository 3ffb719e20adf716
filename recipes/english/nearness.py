"""Which texts are near to what a model will be used for, and how much of each a mix should have.

    python -m recipes.english.nearness mix/*.txt --targets tests/lm1b.txt tests/sst.txt [--words 500000]

A bigram model (Witten and Bell's smoothing) of as many words of each text says each target: the lower its perplexity,
the nearer the text. Then the models are mixed, and expectation maximization finds the weights with which the mix says
all targets together best. A text that another one makes needless has a low weight even if it is near.

It takes minutes where a training takes hours. But it is about words and pairs of words alone: a text that teaches more
than that shows it only in the battery (`benchmarks.english`).
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from elmo.text.tokenizer import Tokenizer

START = "<s>"
BLOCKS = 50  # places in a text from which its sample is taken
ROUNDS = 200
TOKENS = 40_000  # of each target


def sentences(lines: Iterable[str]) -> Iterator[list[str]]:
    """The tokens of each sentence, in small letters."""
    tokenizer = Tokenizer()
    for line in lines:
        for words in tokenizer.sentence_words(line):
            yield [word.lower() for word in words]


def sample(path: Path, words: int) -> Iterator[str]:
    """Lines from places all over a text, about so many words together."""
    size = path.stat().st_size
    with open(path, "rb") as file:
        for block in range(BLOCKS):
            end = size * (block + 1) // BLOCKS
            file.seek(size * block // BLOCKS)
            if block:
                file.readline()  # the rest of a line
            taken = 0
            while taken < words / BLOCKS and file.tell() < end:
                line = file.readline().decode("utf-8")
                taken += line.count(" ") + 1 if line.strip() else 0
                yield line


class Bigrams:
    """How often a word follows another, and what that says of text."""

    def __init__(self, text: Iterable[list[str]], vocabulary: int) -> None:
        self.pairs: Counter[tuple[str, str]] = Counter()
        for words in text:
            self.pairs.update(pairwise([START, *words]))
        self.words: Counter[str] = Counter()  # as the second of a pair
        self.first: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()  # of words that follow
        for (before, word), count in self.pairs.items():
            self.words[word] += count
            self.first[before] += count
            self.kinds[before] += 1
        self.total = self.words.total()
        self.vocabulary = vocabulary

    def probability(self, before: str, word: str) -> float:
        """Of `word` after `before`: what was seen and what was not share by how many kinds of words have followed."""
        alone = (self.words[word] + len(self.words) / self.vocabulary) / (self.total + len(self.words))
        kinds = self.kinds[before]
        if not kinds:
            return alone
        return (self.pairs[before, word] + kinds * alone) / (self.first[before] + kinds)

    def probabilities(self, text: Iterable[list[str]]) -> npt.NDArray[np.float64]:
        """Of each word of a text."""
        pairs = chain.from_iterable(pairwise([START, *words]) for words in text)
        return np.array([self.probability(before, word) for before, word in pairs])


def best_weights(probabilities: npt.NDArray[np.float64], rounds: int = ROUNDS) -> npt.NDArray[np.float64]:
    """The weights of models [K] with which their mix says the words [K, T] best."""
    weights = np.full(len(probabilities), 1 / len(probabilities))
    for _ in range(rounds):
        said = weights[:, None] * probabilities
        weights = (said / said.sum(0)).mean(1)
    return weights


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--targets", nargs="+", type=Path, required=True)
    parser.add_argument("--words", type=int, default=500_000, help="of each text (500,000)")
    given = parser.parse_args(arguments)
    targets = []
    for path in given.targets:
        found = list(sentences(sample(path, TOKENS)))
        targets.append(found)
    vocabulary = len(set(chain.from_iterable(chain.from_iterable(targets)))) + 100_000
    names = [path.stem for path in given.texts]
    said = []
    print("| text | " + " | ".join(path.stem for path in given.targets) + " |")
    print("|---" * (1 + len(targets)) + "|")
    for name, path in zip(names, given.texts, strict=True):
        model = Bigrams(sentences(sample(path, given.words)), vocabulary)
        each = [model.probabilities(target) for target in targets]
        said.append(np.concatenate(each))
        print(f"| {name} | " + " | ".join(f"{np.exp(-np.log(p).mean()):.0f}" for p in each) + " |", flush=True)
    weights = best_weights(np.stack(said))
    print("\n| text | weight for all targets |\n|---|---|")
    for name, weight in sorted(zip(names, weights, strict=True), key=lambda row: -row[1]):
        print(f"| {name} | {weight:.1%} |")


if __name__ == "__main__":
    main()

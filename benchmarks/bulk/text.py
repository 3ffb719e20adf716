"""A text to embed: words of the packaged vocabulary as often as in English, and the package's sample sentences."""

import random
from importlib.resources import files
from itertools import accumulate
from pathlib import Path

SHARE_OF_SAMPLES = 0.1  # of all lines
LONGEST = 120  # words in a generated line


def write_text(path: Path, *, tokens: int, seed: int = 0) -> None:
    """About so many tokens, one line after the other; the lengths of lines are spread as those of news."""
    words = [
        word for word in files("elmo").joinpath("models/english/vocab.txt").read_text("utf-8").split() if word.isalnum()
    ]
    samples = [
        line for line in files("elmo").joinpath("analysis/data/sentences.txt").read_text("utf-8").splitlines() if line
    ]
    totals = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    chance = random.Random(seed)
    written = 0
    with open(path, "w", encoding="utf-8") as file:
        while written < tokens:
            if chance.random() < SHARE_OF_SAMPLES:
                line = chance.choice(samples)
            else:
                count = max(1, min(LONGEST, round(chance.lognormvariate(3.25, 0.55))))
                line = " ".join(chance.choices(words, cum_weights=totals, k=count)).capitalize() + "."
            file.write(line + "\n")
            written += line.count(" ") + 2

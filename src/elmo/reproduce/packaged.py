"""What is measured without any data of the user's, on sentences that come with the product: small, but at once.

N uses of words, L layers, D dimensions.
"""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt

from elmo.analysis.examples import SENSE_SETS, Use, read_senses
from elmo.analysis.senses import count_senses, fraction_right, vectors_of_uses
from elmo.disk.writing import write_file
from elmo.embed.embedder import Embedder
from elmo.reproduce.settings import TaskData
from elmo.text.tokenizer import Tokenizer

Floats = npt.NDArray[np.floating]
NOUNS_VERBS = "nouns_verbs"
OTHER = "other"  # the tag of all words but the one that is asked about
EQUAL = 1e-6  # a product of vectors that says nothing, beside some tenths of those that say something
DEV_WORDS, TEST_WORDS = 4, 4


def read_nouns_verbs() -> list[Use]:
    """20 words in eight sentences each, four as a noun and four as a verb."""
    uses, word, tag = [], "", ""
    text = files("elmo.reproduce").joinpath("data", "nouns-verbs.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        head, found, rest = line.partition(": ")
        if found and rest in ("noun", "verb"):
            word, tag = head, rest
        elif line and not line.startswith("#"):
            uses.append(Use(word, tag, line))
    return uses


def sense_shares(embedder: Embedder) -> list[list[float]]:
    """For each set of senses and each layer: how often the nearest use of a word has its sense, in per cent."""
    found = []
    for name in SENSE_SETS:
        uses = read_senses(name)
        vectors = vectors_of_uses(embedder, uses)
        found.append([100 * fraction_right(count_senses(layer, uses)) for layer in vectors])
    return found


def tag_shares(embedder: Embedder) -> list[float]:
    """For each layer: how often a word is told to be noun or verb by what other words' uses have in common."""
    uses = read_nouns_verbs()
    vectors = vectors_of_uses(embedder, uses)
    return [100 * sum(right_tags(layer, uses)) / len(uses) for layer in vectors]


def right_tags(vectors: Floats, uses: Sequence[Use]) -> list[float]:
    """1 for each use [N, D] that is nearer to the mean of its own tag's uses, those of its own word left out; else 0.

    A word's own mean is taken away before: what its nouns and verbs have in common says nothing of either. Equal
    vectors, as those of a word without context are, leave a guess: 0.5.
    """
    words = np.array([use.word for use in uses])
    nouns = np.array([use.sense == "noun" for use in uses])
    centred = np.empty_like(vectors)
    for word in set(words.tolist()):
        centred[words == word] = vectors[words == word] - vectors[words == word].mean(0)
    right = []
    for n in range(len(uses)):
        others = words != words[n]
        way = centred[others & nouns].mean(0) - centred[others & ~nouns].mean(0)
        told = float(centred[n] @ way)
        right.append(0.5 if abs(told) < EQUAL else float((told > 0) == bool(nouns[n])))
    return right


def write_nouns_verbs(folder: Path) -> TaskData:
    """The same sentences as files of tags to train a small tagger on, their words apart; and its settings."""
    uses = read_nouns_verbs()
    words = list(dict.fromkeys(use.word for use in uses))
    dev, test = len(words) - DEV_WORDS - TEST_WORDS, len(words) - TEST_WORDS
    cuts = {"train": (0, dev), "dev": (dev, test), "test": (test, len(words))}
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer()
    for part, (first, last) in cuts.items():
        own = set(words[first:last])
        blocks = (_columns(use, tokenizer) for use in uses if use.word in own)
        write_file(folder / f"{part}.txt", "".join(blocks).encode())
    return TaskData(
        name=NOUNS_VERBS,
        title="nouns and verbs of the packaged sentences",
        task="pos",
        train="train.txt",
        dev="dev.txt",
        test="test.txt",
        metric="accuracy",
        caveat="96 short sentences to train on: a look at how it goes, no measurement",
        seeds=1,
        set=("train.epochs=12", "train.batch_size=8", "train.learning_rate=0.005", "task.model.hidden=25",
             "embedding.characters=none", "embedding.words.dim=25"),
        baseline=(),
        elmo=(),
        minutes=0.2,
    )  # fmt: skip


def _columns(use: Use, tokenizer: Tokenizer) -> str:
    """A token and its tag a line, a blank line at the end."""
    tokens = tokenizer.tokenize(use.sentence).words
    place = tokens.index(use.word)
    return "".join(f"{token} {use.sense if n == place else OTHER}\n" for n, token in enumerate(tokens)) + "\n"

"""Vocabulary files of models: bounded, then read and written by `elmo.text.vocabulary`."""

from pathlib import Path

from elmo.disk.guarded.plainfiles import require_file
from elmo.errors import InputError, VocabularyError, WeightsError
from elmo.text.vocabulary import Vocabulary

MOST_VOCABULARY_BYTES = 256 << 20  # the largest that was ever reported has 5.5 million words
MOST_WORDS = 1 << 24


def read_vocabulary(path: Path) -> Vocabulary:
    """A model's vocabulary."""
    require_file(path, most_bytes=MOST_VOCABULARY_BYTES)
    with open(path, "rb") as file:
        words = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    if words > MOST_WORDS:
        raise WeightsError(f"{path}: has {words:,} lines, but at most {MOST_WORDS:,} are read")
    try:
        return Vocabulary.read(path)
    except (InputError, VocabularyError) as error:
        raise WeightsError(str(error)) from None


def write_vocabulary(vocabulary: Vocabulary, path: Path) -> None:
    """Write it as `read_vocabulary` reads it."""
    vocabulary.write(path)

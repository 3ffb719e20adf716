"""Single sentences: the English sides of Tatoeba's pairs."""

import gzip
import random
from collections.abc import Iterable, Iterator

from recipes.english.extract.archive import File

TOGETHER = 60  # sentences in a document; they have nothing to do with each other


def tatoeba(files: Iterable[File]) -> Iterator[list[str]]:
    """The distinct English sentences of tables of languages and sentences (two columns each), in random order."""
    found: dict[str, None] = {}
    for _, content in files:
        for line in gzip.decompress(content).decode("utf-8").splitlines():
            columns = line.split("\t")
            if len(columns) == 4:
                found.update(
                    (text, None) for language, text in zip(columns[:2], columns[2:], strict=True) if language == "eng"
                )
    sentences = list(found)
    random.Random(1).shuffle(sentences)
    for start in range(0, len(sentences), TOGETHER):
        yield sentences[start : start + TOGETHER]

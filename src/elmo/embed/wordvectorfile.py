"""Vectors of words without a sentence, layer 0, as word2vec's binary file: what gensim and many others read.

A line `words size`, then for each word its UTF-8 bytes, a space, its numbers as little-endian float32, and a line feed.
"""

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike

from elmo.disk.writing import write_atomically
from elmo.embed.embedder import Embedder
from elmo.errors import InputError
from elmo.text.lines import read_lines

MARKS = ("<S>", "</S>", "<UNK>")  # of a vocabulary file; no words
AT_ONCE = 4096


def read_words(path: str | PathLike[str]) -> list[str]:
    """The words of a file with one a line, each once, in order; blank lines and the marks of a vocabulary left out."""
    return list(dict.fromkeys(_checked(path, read_lines(path))))


def _checked(path: str | PathLike[str], lines: Iterable[tuple[int, str]]) -> Iterator[str]:
    for number, line in lines:
        word = line.strip()
        if len(word.split()) > 1:
            raise InputError(f"{path}: line {number} is {word[:60]!r}, but one word a line is wanted")
        if word and word not in MARKS:
            yield word


def write_word2vec(embedder: Embedder, words: Sequence[str], path: str | PathLike[str]) -> None:
    """Write the layer-0 vector of each word; the file takes its name when it is complete."""
    with write_atomically(path) as file:
        file.write(f"{len(words)} {embedder.dim}\n".encode())
        for start in range(0, len(words), AT_ONCE):
            group = words[start : start + AT_ONCE]
            vectors = embedder.encode([[word] for word in group], layers=0, show_progress_bar=False)
            for word, vector in zip(group, vectors, strict=True):
                file.write(word.encode("utf-8", "replace") + b" " + vector[0].astype("<f4").tobytes() + b"\n")

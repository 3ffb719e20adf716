"""Static word vectors from files: GloVe's text format (also .gz, .xz, .zst; word2vec's first line) and .npz."""

import hashlib
import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from elmo.disk.guarded.arrayfiles import read_npz
from elmo.disk.guarded.plainfiles import one_line
from elmo.errors import InputError
from elmo.text.lines import read_lines


@dataclass(frozen=True)
class WordVectors:
    """Words, most frequent first, and their vectors [V, D]."""

    words: list[str]
    vectors: npt.NDArray[np.float32]

    @property
    def dim(self) -> int:
        """Size of a vector."""
        return int(self.vectors.shape[1])

    def sha256(self) -> str:
        """A hash of words and numbers."""
        digest = hashlib.sha256("\n".join(self.words).encode("utf-8", "surrogatepass"))
        digest.update(np.ascontiguousarray(self.vectors, dtype="<f4").data)
        return digest.hexdigest()

    def only(self, wanted: set[str]) -> "WordVectors":
        """Those of some words, in the same order: a small file for a known set of texts."""
        kept = [n for n, word in enumerate(self.words) if word in wanted]
        return WordVectors([self.words[n] for n in kept], self.vectors[kept])


def read_word_vectors(path: str | Path) -> WordVectors:
    """Read a file of vectors; `.npz` has arrays `words` and `vectors`, all else is text."""
    name = str(path)
    found = _read_npz(name) if name.endswith(".npz") else _read_text(name)
    if not found.words:
        raise InputError(f"{name}: has no vectors")
    return found


def write_word_vectors(vectors: WordVectors, path: Path, *, dtype: str = "float32") -> None:
    """Write what `read_word_vectors` reads back."""
    np.savez(path, words=np.array(vectors.words), vectors=vectors.vectors.astype(dtype))


def _read_npz(name: str) -> WordVectors:
    try:
        words, vectors = read_npz(Path(name), ("words", "vectors")).values()
    except InputError as error:
        raise InputError(f"{error}; arrays `words` [V] and `vectors` [V, D] are wanted") from None
    if (
        vectors.ndim != 2
        or words.shape != vectors.shape[:1]
        or words.dtype.kind != "U"
        or vectors.dtype.kind not in "fiu"
    ):
        raise InputError(
            f"{name}: words are {words.dtype} {list(words.shape)} and vectors {list(vectors.shape)}; "
            "text [V] and numbers [V, D] are wanted"
        )
    try:
        return WordVectors(words.tolist(), vectors.astype(np.float32))
    except ValueError as error:  # numbers that are no character
        raise InputError(f"{name}: words are not text ({one_line(error)})") from None


def _read_text(name: str) -> WordVectors:
    words: list[str] = []
    rows: list[npt.NDArray[np.float32]] = []
    for number, line in read_lines(name):
        if not line.strip():
            continue
        parts = line.rstrip().split(" ")
        if number == 1 and len(parts) == 2 and all(part.isdigit() for part in parts):
            continue  # word2vec's text format says here how many vectors of which size follow
        # Some words of GloVe's have blanks in them, so that only the first line says where the numbers begin.
        start = max(1, len(parts) - len(rows[0])) if rows else 1
        try:
            row = np.array(parts[start:], dtype=np.float32)
        except ValueError:
            raise InputError(f"{name}: line {number} is not a word and numbers: {line[:40]!r}") from None
        if rows and (len(row) != len(rows[0]) or (start > 1 and _is_number(parts[start - 1]))):
            raise InputError(
                f"{name}: line {number} has {_numbers_at_end(parts)} numbers, but the first has {len(rows[0])}"
            )
        words.append(" ".join(parts[:start]))
        rows.append(row)
    return WordVectors(words, np.stack(rows) if rows else np.zeros((0, 0), np.float32))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _numbers_at_end(parts: list[str]) -> int:
    return sum(1 for _ in itertools.takewhile(_is_number, reversed(parts[1:])))

"""`WordList`: the words a task model has a vector for, and which of them a spelling stands for."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from elmo.disk.guarded.plainfiles import read_bytes, refusing
from elmo.disk.writing import write_file
from elmo.errors import WeightsError
from elmo.tasks.embedding.wordvectors import WordVectors

UNKNOWN = 0
MOST_BYTES = 1 << 30
_DIGIT = re.compile(r"\d")


def spellings(word: str) -> list[str]:
    """The ways in which a word is looked for."""
    small = word.lower()
    return [word, small, _DIGIT.sub("0", small)]


class WordList:
    """Ids of words: 0 is every unknown one, then the `known` (they learn), then the `rest` (from a file, fixed).

    A word that is not there as it is written is looked for in small letters, and then with every digit as 0.
    """

    def __init__(self, known: Sequence[str], rest: Sequence[str] = ()) -> None:
        self.known, self.rest = list(known), list(rest)
        self._ids = {word: n for n, word in enumerate([*self.known, *self.rest], start=1)}
        if len(self._ids) != len(self.known) + len(self.rest):
            raise WeightsError("a list of words has a word twice")

    def __len__(self) -> int:
        return len(self._ids) + 1

    def id_of(self, word: str) -> int:
        """The id of a word, 0 for one that is not known."""
        for spelling in spellings(word):
            found = self._ids.get(spelling)
            if found is not None:
                return found
        return UNKNOWN

    @classmethod
    def collect(cls, texts: Iterable[Sequence[str]], vectors: WordVectors | None, *, most: int) -> "WordList":
        """The words of training texts, and up to `most` others that a file of vectors has.

        A word of the texts is known if the file has it or it comes twice; what comes once and is not in the file
        teaches the vector of the unknown.
        """
        in_file = set() if vectors is None else set(vectors.words)
        words = Counter(word for text in texts for word in text)
        counts: Counter[str] = Counter()
        for word, count in words.items():
            ways = spellings(word)
            counts[next((spelling for spelling in ways if spelling in in_file), ways[-1])] += count
        known = sorted(word for word, count in counts.items() if count > 1 or word in in_file)
        taken = set(known)
        rest = [] if vectors is None else [w for w in dict.fromkeys(vectors.words) if w not in taken][:most]
        return cls(known, rest)

    def write(self, path: Path) -> None:
        """Write the words, one a line, the known ones first; `read` must be told how many they are."""
        write_file(path, "\n".join([*self.known, *self.rest]).encode("utf-8", "surrogatepass"))

    @classmethod
    def read(cls, path: Path, *, known: int, rest: int) -> "WordList":
        """What `write` wrote."""
        try:
            text = read_bytes(path, most_bytes=MOST_BYTES).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise WeightsError(f"{path}: is not UTF-8 (byte {error.start}); it is damaged") from None
        words = text.split("\n") if text else []
        if len(words) != known + rest:
            raise WeightsError(f"{path}: has {len(words):,} words, but {known + rest:,} are wanted; it is damaged")
        with refusing(path, WeightsError):
            return cls(words[:known], words[known:])

"""The softmax vocabulary: its words in the order of their ids. The only module that knows the format of its file.

The file is bilm-tf's: UTF-8, one word a line, the id is the number of the line from 0. The first three entries are
`<S>`, `</S>` and `<UNK>`; the others follow by descending frequency, because the sampled softmax draws by rank.
`vocabulary_check` finds and repairs what is wrong in such files.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from elmo.disk.guarded.plainfiles import read_bytes, require_file
from elmo.disk.writing import write_file
from elmo.errors import ConfigError, InputError, VocabularyError, WeightsError
from elmo.text.lines import lines_of, read_lines

BEGIN_SENTENCE = "<S>"
END_SENTENCE = "</S>"
UNKNOWN = "<UNK>"
SPECIALS = (BEGIN_SENTENCE, END_SENTENCE, UNKNOWN)
BEGIN_SENTENCE_ID, END_SENTENCE_ID, UNKNOWN_ID = range(3)

# A line that some corpora carry; it is no entry and takes no id. [bilm-tf data.py, Vocabulary]
SKIPPED_LINE = "!!!MAXTERMID"

ORDINALS = ("first", "second", "third")

# Of a model's or a corpus store's, which may come from anyone.
MOST_VOCABULARY_BYTES = 256 << 20  # the largest that was ever reported has 5.5 million words
MOST_WORDS = 1 << 24


@dataclass(frozen=True, slots=True, repr=False)
class Vocabulary:
    """The words by id, and the ids by word. Of a word that is there twice the last id counts, as in bilm-tf."""

    words: tuple[str, ...]
    _ids: dict[str, int] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        for i, special in enumerate(SPECIALS):
            found = repr(self.words[i]) if i < len(self.words) else "missing"
            if found != repr(special):
                raise VocabularyError(
                    f"the {ORDINALS[i]} entry of a vocabulary must be {special!r}, but is {found:.80}"
                )
        object.__setattr__(self, "_ids", dict(zip(self.words, range(len(self.words)), strict=True)))

    def __repr__(self) -> str:
        return f"<Vocabulary of {len(self.words):,} words>"

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._ids

    def id_of(self, word: str) -> int:
        """The id of `word`, that of `<UNK>` if it is not there."""
        return self._ids.get(word, UNKNOWN_ID)

    def ids_of(self, words: Iterable[str]) -> npt.NDArray[np.int64]:
        """The id of each word: [W]."""
        get = self._ids.get
        return np.array([get(word, UNKNOWN_ID) for word in words], dtype=np.int64)

    @classmethod
    def build(
        cls,
        counts: Mapping[str, int],
        *,
        size: int | None = None,
        min_count: int | None = None,
        coverage: float | None = None,
    ) -> "Vocabulary":
        """The vocabulary of a counted text: most frequent words first, equally frequent ones by spelling.

        `size` keeps that many entries, the three specials included; `min_count` keeps the words that occur so often;
        `coverage` keeps as few words as make up that share of the text (0.98, say). Without them all words are kept.
        """
        options = {"size": size, "min_count": min_count, "coverage": coverage}
        given = [f"{name}={value}" for name, value in options.items() if value is not None]
        if len(given) > 1:
            raise ConfigError(f"a vocabulary has one limit, but {' and '.join(given)} are given; leave out all but one")
        if size is not None and size <= len(SPECIALS):
            raise ConfigError(
                f"vocabulary size={size} leaves no room for words: three entries are {', '.join(SPECIALS)}"
            )
        if coverage is not None and not 0 < coverage <= 1:
            raise ConfigError(f"vocabulary coverage={coverage} is no share of a text; give more than 0 and at most 1")

        least = 1 if min_count is None else max(1, min_count)
        special = {*SPECIALS, SKIPPED_LINE, ""}
        words = sorted(word for word, count in counts.items() if count >= least and word not in special)
        words.sort(key=counts.__getitem__, reverse=True)  # stable, so that equal counts stay in order of spelling
        if not words:
            raise VocabularyError(f"no word is left for the vocabulary ({', '.join(given) or 'the text has none'})")
        if size is not None:
            words = words[: size - len(SPECIALS)]
        if coverage is not None:
            covered = np.cumsum([counts[word] for word in words])  # [W]
            words = words[: int(np.searchsorted(covered, coverage * covered[-1])) + 1]
        return cls((*SPECIALS, *words))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Vocabulary":
        """The vocabulary in a file. A blank line is the word '', as in bilm-tf; the specials must be in place."""
        return cls._from_lines(read_lines(path), name=os.fspath(path))

    @classmethod
    def _from_lines(cls, lines: Iterable[tuple[int, str]], *, name: str) -> "Vocabulary":
        entries = [(number, word) for number, line in lines if (word := line.strip()) != SKIPPED_LINE]
        words = tuple([word for _, word in entries])
        for i, special in enumerate(SPECIALS):
            if words[i : i + 1] != (special,):
                place = (
                    f"line {entries[i][0]} is {words[i]!r:.80}" if i < len(words) else f"there are {len(words)} entries"
                )
                raise VocabularyError(
                    f"{name}: {place}, but the {ORDINALS[i]} entry must be {special!r}; "
                    "repair the file with `elmo vocab check --fix` or make a new one with `elmo vocab build`"
                )
        return cls(words)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file, atomically. A word that a line cannot hold raises VocabularyError."""
        for i, word in enumerate(self.words):
            if word.strip() != word or "\n" in word or word == SKIPPED_LINE:
                raise VocabularyError(f"{os.fspath(path)}: word {i} is {word!r}, which a line of the file cannot hold")
        try:
            data = "".join(f"{word}\n" for word in self.words).encode("utf-8")
        except UnicodeEncodeError as error:
            word = next(word for word in self.words if error.object[error.start] in word)
            raise VocabularyError(f"{os.fspath(path)}: the word {word!r} cannot be written as UTF-8") from None
        write_file(path, data)


@dataclass(frozen=True, slots=True, repr=False)
class UnreadVocabulary:
    """The content of a vocabulary file as it was when its model was read; `read` makes the words of it."""

    content: bytes
    name: str

    @classmethod
    def of(cls, path: Path) -> "UnreadVocabulary":
        """The bytes of a file of bounded size. What is wrong in them is said when they are read."""
        return cls(read_bytes(path, most_bytes=MOST_VOCABULARY_BYTES), str(path))

    def __repr__(self) -> str:
        return f"<Vocabulary of {self.name}, not read yet>"

    def read(self) -> Vocabulary:
        """The vocabulary; WeightsError where the file holds none."""
        _require_few(self.content.count(b"\n"), name=self.name)
        try:
            return Vocabulary._from_lines(lines_of(self.content, name=self.name), name=self.name)
        except (InputError, VocabularyError) as error:
            raise WeightsError(str(error)) from None


def read_vocabulary(path: Path) -> Vocabulary:
    """The vocabulary of a model or of a corpus store, from a file of bounded size; compressed ones are read too."""
    require_file(path, most_bytes=MOST_VOCABULARY_BYTES)
    with open(path, "rb") as file:
        _require_few(sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b"")), name=str(path))
    try:
        return Vocabulary.read(path)
    except (InputError, VocabularyError) as error:
        raise WeightsError(str(error)) from None


def _require_few(lines: int, *, name: str) -> None:
    if lines > MOST_WORDS:
        raise WeightsError(f"{name}: has {lines:,} lines, but at most {MOST_WORDS:,} are read")

"""Words and characters by dictionary, as ELMoForManyLangs numbers them: code points, not bytes. Its two .dic files.

Rows are a word id and then the ids of begin-word, the characters, end-word and padding. The two word marks are swapped
(a word begins with the id of `<eow>`), because the published models were trained so. [ELMoForManyLangs frontend.py,
create_one_batch; its issue 38]

W words, C characters in a row (0 for models without characters).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elmo.errors import InputError

BEGIN_SENTENCE, END_SENTENCE = "<bos>", "<eos>"
UNKNOWN, PADDING = "<oov>", "<pad>"
FIRST_OF_WORD, LAST_OF_WORD = "<eow>", "<bow>"  # swapped: see above
WORD_SPECIALS = (UNKNOWN, PADDING)
CHARACTER_SPECIALS = (BEGIN_SENTENCE, END_SENTENCE, UNKNOWN, PADDING, FIRST_OF_WORD, LAST_OF_WORD)

IDEOGRAPHIC_SPACE = "\u3000"
MOST_ENTRIES = 1 << 24

Ids = dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Dictionaries:
    """How a model numbers words and characters. Words are cut to `longest` before they are looked up or spelled."""

    words: Ids | None
    characters: Ids | None
    characters_in_row: int = 0
    longest: int | None = None

    def __post_init__(self) -> None:
        for name, ids, specials in (
            ("word", self.words, WORD_SPECIALS),
            ("character", self.characters, CHARACTER_SPECIALS),
        ):
            missing = [special for special in specials if ids is not None and special not in ids]
            if missing:
                raise InputError(f"the {name} dictionary has no entry {missing[0]!r}")
        fits = self.longest is not None and 1 <= self.longest <= self.characters_in_row - 2
        if self.characters is not None and not fits:
            raise InputError(f"rows of {self.characters_in_row} characters cannot hold words of {self.longest}")

    def spell(self, words: Sequence[str]) -> npt.NDArray[np.int32]:
        """The row of each word: [W, 1 + C]."""
        return self._rows(words if self.longest is None else [word[: self.longest] for word in words])

    def boundary_rows(self) -> npt.NDArray[np.int32]:
        """The rows of the begin-sentence and the end-sentence token: [2, 1 + C]."""
        return self._rows([BEGIN_SENTENCE, END_SENTENCE])

    def is_cut(self, word: str) -> bool:
        """Whether the row of `word` loses characters."""
        return self.longest is not None and len(word) > self.longest

    def _rows(self, words: Sequence[str]) -> npt.NDArray[np.int32]:
        rows = np.zeros((len(words), 1 + self.characters_in_row), dtype=np.int32)
        if self.words is not None:
            known, unknown = self.words.get, self.words[UNKNOWN]
            rows[:, 0] = [known(word, unknown) for word in words]
        if self.characters is not None:
            rows[:, 1:] = self.characters[PADDING]
            for row, word in zip(rows, words, strict=True):
                ids = self._spelled(word)
                row[1 : 1 + len(ids)] = ids
        return rows

    def _spelled(self, word: str) -> list[int]:
        ids = self.characters
        assert ids is not None
        # A typed boundary is the boundary; other specials are spelled out like any word. [as the original does]
        letters = [word] if word in (BEGIN_SENTENCE, END_SENTENCE) else word
        unknown = ids[UNKNOWN]
        return [ids[FIRST_OF_WORD], *(ids.get(letter, unknown) for letter in letters), ids[LAST_OF_WORD]]


def parse_dictionary(content: bytes, *, where: str) -> Ids:
    """A .dic file: a token, a tab and its id on each line.

    White space around a line is stripped first, so the entry of a white-space character has one field left and means
    the ideographic space, the one that such models have. Of a token that comes twice the last id counts.
    [ELMoForManyLangs elmo.py, get_model]
    """
    ids: Ids = {}
    for number, line in _lines(content, where=where):
        fields = line.strip().split("\t")
        if len(fields) == 1:
            fields.insert(0, IDEOGRAPHIC_SPACE)
        if len(fields) != 2:
            raise InputError(f"{where}: line {number} has {len(fields)} fields, but a token and its id are wanted")
        ids[fields[0]] = _id(fields[1], number, where=where)
    return ids


def dictionary_text(ids: Ids) -> bytes:
    """A dictionary as a file without quirks: the last tab of a line parts a token, whatever it is, from its id."""
    return "".join(f"{token}\t{number}\n" for token, number in ids.items()).encode("utf-8")


def parse_dictionary_text(content: bytes, *, where: str) -> Ids:
    """What `dictionary_text` wrote."""
    ids: Ids = {}
    for number, line in _lines(content, where=where):
        token, tab, digits = line.rpartition("\t")
        if not tab:
            raise InputError(f"{where}: line {number} has no tab, but a token, a tab and an id are wanted")
        ids[token] = _id(digits, number, where=where)
    return ids


def _lines(content: bytes, *, where: str) -> list[tuple[int, str]]:
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
        raise InputError(f"{where}: line {line} is not UTF-8") from None
    if len(lines) > MOST_ENTRIES:
        raise InputError(f"{where}: has {len(lines):,} lines, but at most {MOST_ENTRIES:,} are read")
    if lines[-1] == "":
        lines.pop()
    return list(enumerate(lines, start=1))


def _id(digits: str, number: int, *, where: str) -> int:
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
        raise InputError(f"{where}: line {number} has the id {digits[:40]!r}, but a number is wanted")
    return int(digits)

"""bilm-tf's vocabularies: words to ids, and to character ids in training's numbering, which has no id for padding.

The specials may stand on any line, as bilm-tf allows. Where one is needed and missing, a VocabularyError says so;
bilm-tf goes on with -1, which is the last word, or the padding.
"""

import functools
import os
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from elmo.compat.rows import character_rows
from elmo.errors import VocabularyError
from elmo.text.chars import BEGIN_SENTENCE as BEGIN_SENTENCE_CHARACTER
from elmo.text.chars import BEGIN_WORD, END_WORD, FIRST_BYTE, IN_WORD_PADDING
from elmo.text.chars import END_SENTENCE as END_SENTENCE_CHARACTER
from elmo.text.lines import read_lines
from elmo.text.vocabulary import BEGIN_SENTENCE, END_SENTENCE, SKIPPED_LINE, SPECIALS, UNKNOWN

Ids = npt.NDArray[np.int32]


class Vocabulary:
    """The words of a file, one a line; the id of a word is its place among them, the last where it is there twice."""

    def __init__(self, filename: str | os.PathLike[str], validate_file: bool = False) -> None:
        self._filename = os.fspath(filename)
        stripped = (line.strip() for _, line in read_lines(filename))
        self._id_to_word = [word for word in stripped if word != SKIPPED_LINE]
        self._word_to_id = {word: n for n, word in enumerate(self._id_to_word)}
        if validate_file:
            for special in SPECIALS:
                self._special(special)

    @property
    def bos(self) -> int:
        """The id of `<S>`."""
        return self._special(BEGIN_SENTENCE)

    @property
    def eos(self) -> int:
        """The id of `</S>`."""
        return self._special(END_SENTENCE)

    @property
    def unk(self) -> int:
        """The id of `<UNK>`."""
        return self._special(UNKNOWN)

    @property
    def size(self) -> int:
        """How many words there are."""
        return len(self._id_to_word)

    def word_to_id(self, word: str) -> int:
        """The id of `word`, or that of `<UNK>`."""
        found = self._word_to_id.get(word)
        if found is not None:
            return found
        if UNKNOWN not in self._word_to_id:
            raise VocabularyError(
                f"{self._filename}: {word!r} is not in the vocabulary, and neither is {UNKNOWN}, which stands for such "
                f"words; add {word!r} or {UNKNOWN}, and dump the token embeddings again"
            )
        return self.unk

    def id_to_word(self, cur_id: int) -> str:
        """The word of an id."""
        return self._id_to_word[cur_id]

    def decode(self, cur_ids: Sequence[int]) -> str:
        """The words of ids, with spaces between."""
        return " ".join(self.id_to_word(cur_id) for cur_id in cur_ids)

    def encode(self, sentence: str | Sequence[str], reverse: bool = False, split: bool = True) -> Ids:
        """The ids of a sentence between those of its boundaries; `reverse` swaps these."""
        ids = [self.word_to_id(word) for word in _words(sentence, split)]
        first, last = (self.eos, self.bos) if reverse else (self.bos, self.eos)
        return np.array([first, *ids, last], dtype=np.int32)

    def _special(self, word: str) -> int:
        if word not in self._word_to_id:
            raise VocabularyError(
                f"{self._filename}: {word} is missing; the file must have it on a line of its own (case counts), "
                "or `elmo vocab check --fix` puts it in"
            )
        return self._word_to_id[word]


class UnicodeCharsVocabulary(Vocabulary):
    """A vocabulary that also spells words. Its character ids are those of training: add 1 before a model reads them."""

    bos_char = BEGIN_SENTENCE_CHARACTER - FIRST_BYTE
    eos_char = END_SENTENCE_CHARACTER - FIRST_BYTE
    bow_char = BEGIN_WORD - FIRST_BYTE
    eow_char = END_WORD - FIRST_BYTE
    pad_char = IN_WORD_PADDING - FIRST_BYTE

    def __init__(self, filename: str | os.PathLike[str], max_word_length: int, validate_file: bool = False) -> None:
        super().__init__(filename, validate_file=validate_file)
        self._max_word_length = max_word_length
        # They are looked up here because a missing one would spoil every sentence.
        self.bos_chars = self.word_to_char_ids(self.id_to_word(self.bos))
        self.eos_chars = self.word_to_char_ids(self.id_to_word(self.eos))

    @property
    def max_word_length(self) -> int:
        """Characters in a row."""
        return self._max_word_length

    @functools.cached_property
    def word_char_ids(self) -> Ids:
        """The rows of all words by id: [V, C]."""
        return self._spelled(self._id_to_word)

    def word_to_char_ids(self, word: str) -> Ids:
        """The row of a word, in the vocabulary or not: [C]. `<S>` and `</S>` are the boundary rows."""
        row: Ids = self._spelled([word])[0]
        return row

    def encode_chars(self, sentence: str | Sequence[str], reverse: bool = False, split: bool = True) -> Ids:
        """The rows of a sentence between those of its boundaries; `reverse` swaps these: [T + 2, C]."""
        first, last = (END_SENTENCE, BEGIN_SENTENCE) if reverse else (BEGIN_SENTENCE, END_SENTENCE)
        return self._spelled([first, *_words(sentence, split), last])

    def _spelled(self, words: Sequence[str]) -> Ids:
        return character_rows(words, characters=self._max_word_length).astype(np.int32) - FIRST_BYTE


def _words(sentence: str | Sequence[str], split: bool) -> Sequence[str]:
    if not split:
        return sentence
    assert isinstance(sentence, str)
    return sentence.split()

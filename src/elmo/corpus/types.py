"""The type table and the vocabulary, written while the types pass by in their order, most frequent first.

T types, the separator among them.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from elmo.corpus.layout import BYTES_IN_ROW, TYPE_ARRAYS
from elmo.corpus.merge import TypesChunk
from elmo.corpus.options import VocabularyLimits
from elmo.disk.hashed import ArrayFile
from elmo.errors import VocabularyError
from elmo.text.vocabulary import END_SENTENCE_ID, SKIPPED_LINE, SPECIALS, UNKNOWN_ID, Vocabulary
from elmo.text.vocabulary_check import LEAST_RANK_CORRELATION, rank_correlation

logger = logging.getLogger(__name__)

# Written out in a text these are ordinary words outside the vocabulary: its file gives them another meaning.
_RESERVED = frozenset(word.encode("utf-8") for word in (*SPECIALS, SKIPPED_LINE))


class Targets(Protocol):
    """Gives words their vocabulary ids."""

    def ids(self, chunk: TypesChunk) -> npt.NDArray[np.int32]: ...

    def vocabulary(self) -> Vocabulary:
        """The vocabulary, after all words have passed."""
        ...


class GrowingVocabulary:
    """Takes words from the most frequent on until a limit is reached."""

    def __init__(self, limits: VocabularyLimits, *, training_tokens: int) -> None:
        self._words = list(SPECIALS)
        self._size = limits.size
        self._min_count = max(limits.min_count or 1, 1)
        self._wanted = training_tokens if limits.coverage is None else limits.coverage * training_tokens
        self._covered = 0
        self._open = True

    def ids(self, chunk: TypesChunk) -> npt.NDArray[np.int32]:
        ids = np.full(len(chunk.words), UNKNOWN_ID, dtype=np.int32)
        for i, (word, count) in enumerate(zip(chunk.words, chunk.counts.tolist(), strict=True)):
            if not self._takes(count):
                break
            if word not in _RESERVED:
                ids[i] = len(self._words)
                self._words.append(word.decode("utf-8"))
                self._covered += count
        return ids

    def vocabulary(self) -> Vocabulary:
        if len(self._words) == len(SPECIALS):
            raise VocabularyError(
                f"no word occurs {self._min_count} times in the training split, so that the vocabulary is empty; "
                "give a smaller min_count (or a vocabulary_size alone), or more text"
            )
        return Vocabulary(tuple(self._words))

    def _takes(self, count: int) -> bool:
        self._open = (
            self._open
            and count >= self._min_count
            and self._covered < self._wanted
            and (self._size is None or len(self._words) < self._size)
        )
        return self._open


class GivenVocabulary:
    """Looks words up in a vocabulary made elsewhere."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._counts: dict[str, int] = {}

    def ids(self, chunk: TypesChunk) -> npt.NDArray[np.int32]:
        words = ["" if word in _RESERVED else word.decode("utf-8") for word in chunk.words]
        for word, count in zip(words, chunk.counts.tolist(), strict=True):
            if word in self._vocabulary:
                self._counts[word] = count
        return np.array([self._vocabulary.id_of(word) for word in words], dtype=np.int32)

    def vocabulary(self) -> Vocabulary:
        if not any(self._counts.values()):
            raise VocabularyError(
                "no word of the given vocabulary occurs in the training split; give one for this text"
            )
        correlation = rank_correlation(self._vocabulary.words, self._counts)
        if correlation is not None and correlation < LEAST_RANK_CORRELATION:
            logger.warning(
                "the given vocabulary is not sorted by descending frequency in this text (rank correlation %.2f), "
                "which makes the sampled softmax worse; see `elmo vocab check`",
                correlation,
            )
        return self._vocabulary


@dataclass
class TypeReport:
    """What was seen of the types; counts are of the training split."""

    training_types: int = 0
    known_tokens: int = 0
    cut_types: int = 0  # longer than a row
    cut_tokens: int = 0
    reserved_tokens: dict[str, int] = field(default_factory=dict)  # special words written out in the text


def write_types(
    chunks: Iterable[TypesChunk], folder: Path, *, count: int, training_sentences: int, targets: Targets
) -> tuple[TypeReport, dict[str, str]]:
    """Write the four arrays for `count` types and the separator. Returns a report and the hash of each file."""
    report = TypeReport()
    paths = {name: folder / f"{name}.npy" for name in TYPE_ARRAYS}
    T = count + 1
    with (
        ArrayFile(paths["type_bytes"], dtype=TYPE_ARRAYS["type_bytes"], shape=(T, BYTES_IN_ROW)) as spellings,
        ArrayFile(paths["type_lengths"], dtype=TYPE_ARRAYS["type_lengths"], shape=(T,)) as lengths,
        ArrayFile(paths["type_targets"], dtype=TYPE_ARRAYS["type_targets"], shape=(T,)) as ids,
        ArrayFile(paths["type_counts"], dtype=TYPE_ARRAYS["type_counts"], shape=(T,)) as counts,
    ):
        spellings.append(np.zeros((1, BYTES_IN_ROW), dtype=np.uint8))
        lengths.append(np.array([0]))
        ids.append(np.array([END_SENTENCE_ID]))
        counts.append(np.array([training_sentences]))
        for chunk in chunks:
            chunk_ids = targets.ids(chunk)
            sizes = np.fromiter(map(len, chunk.words), dtype=np.int64, count=len(chunk.words))
            spellings.append(byte_rows(chunk.words))
            lengths.append(np.minimum(sizes, BYTES_IN_ROW))
            ids.append(chunk_ids)
            counts.append(chunk.counts)
            _note(report, chunk, chunk_ids, sizes)
    files = (spellings, lengths, ids, counts)
    return report, {file.path.name: file.sha256 for file in files}


def byte_rows(words: list[bytes]) -> npt.NDArray[np.uint8]:
    """The first bytes of each word, padded with zeros: [words, 48]."""
    rows = np.array(words, dtype=f"S{BYTES_IN_ROW}")  # numpy cuts and pads
    return rows.view(np.uint8).reshape(len(words), BYTES_IN_ROW)


def _note(report: TypeReport, chunk: TypesChunk, ids: npt.NDArray[np.int32], sizes: npt.NDArray[np.int64]) -> None:
    known = ids != UNKNOWN_ID
    cut = sizes > BYTES_IN_ROW
    report.training_types += int(np.count_nonzero(chunk.counts))
    report.known_tokens += int(chunk.counts[known].sum())
    report.cut_types += int(np.count_nonzero(cut))
    report.cut_tokens += int(chunk.counts[cut].sum())
    for word in _RESERVED.intersection(chunk.words):
        report.reserved_tokens[word.decode("utf-8")] = int(chunk.counts[chunk.words.index(word)])

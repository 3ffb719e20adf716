"""The text of an index cut into parts, and the vectors of a part: its rows in the order of an index.

A part is a function of the text and the options alone, so that a resumed build makes the same ones.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.analysis.choices import VectorStore
from elmo.analysis.index.layout import MEAN, TOKENS, LayerName, word_key
from elmo.disk.workfiles import Arrays
from elmo.embed.choices import Layers
from elmo.embed.embedder import Embedder
from elmo.embed.selection import check_layers, normalized
from elmo.errors import ConfigError
from elmo.text.textfiles import PlacedSentence

# A part ends at either bound. Both depend on the text and the options alone.
SENTENCES_IN_PART = 16_384
BYTES_IN_PART = 64 << 20  # of vectors as they are computed

SENTENCES_SHA256 = "sentences_sha256"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is kept of each token."""

    layers: tuple[LayerName, ...]
    store: VectorStore
    only_words: frozenset[str] | None  # lower case; None: all words

    @property
    def asked(self) -> Layers:
        """What the embedder is asked for."""
        if len(self.layers) > 1:
            return "all"
        return "mean" if self.layers[0] == MEAN else int(self.layers[0])

    def keeps(self, word: str) -> bool:
        return self.only_words is None or word.lower() in self.only_words


def layer_names(layers: Layers | Sequence[Layers], count: int) -> tuple[LayerName, ...]:
    """The layers of a model of `count` that are asked for, by their names, in their order."""
    given = [layers] if isinstance(layers, str | int) else list(layers)
    if not given:
        raise ConfigError("no layers are asked for; 'top', 'mean', 'all' or numbers are wanted")
    names: set[LayerName] = set()
    for one in given:
        check_layers(one, count)
        if one == "all":
            names |= {str(number) for number in range(count)}
        elif one == MEAN:
            names.add(MEAN)
        else:
            names.add(str(count - 1 if one == "top" else int(one) % count))
    return tuple(sorted(names, key=lambda name: (name == MEAN, name != MEAN and int(name))))


def cut_into_parts(
    sentences: Iterable[PlacedSentence], embedder: Embedder, wanted: Wanted
) -> Iterator[list[PlacedSentence]]:
    """Sentences that are embedded together; one that has none of the wanted words is left out."""
    token_bytes = 4 * embedder.dim * (embedder.layer_count if wanted.asked == "all" else 1)
    part: list[PlacedSentence] = []
    size = 0
    for sentence in sentences:
        if wanted.only_words is not None and not any(map(wanted.keeps, sentence.words)):
            continue
        part.append(sentence)
        size += token_bytes * len(sentence.words)
        if len(part) == SENTENCES_IN_PART or size >= BYTES_IN_PART:
            yield part
            part, size = [], 0
    if part:
        yield part


def digest_sentences(sentences: Sequence[PlacedSentence]) -> str:
    """Identifies the sentences of a part, to notice a text that changed."""
    digest = hashlib.sha256()
    for sentence in sentences:
        told = json.dumps([sentence.file, sentence.line, sentence.words]).encode("ascii")
        digest.update(len(told).to_bytes(8, "little"))
        digest.update(told)
    return digest.hexdigest()


def make_part(
    sentences: Sequence[PlacedSentence], embedder: Embedder, wanted: Wanted, *, files: dict[str, int]
) -> Arrays:
    """The arrays of a part: P rows, W distinct words, T tokens."""
    embedded = embedder.embed_tokens(
        [sentence.words for sentence in sentences], layers=wanted.asked, show_progress_bar=False
    )
    tokens = [_storable(word) for sentence in sentences for word in sentence.words]
    words = sorted(set(tokens), key=word_key)
    numbers = {word: number for number, word in enumerate(words)}
    ids = np.fromiter((numbers[token] for token in tokens), np.int32, len(tokens))  # [T]
    lengths = np.array([len(sentence.words) for sentence in sentences], dtype=np.int32)
    kept = np.array([wanted.keeps(word) for word in words], dtype=bool)
    rows = np.flatnonzero(kept[ids])
    rows = rows[np.argsort(ids[rows], kind="stable")]  # [P], by word, then as in the text
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    sentence_of = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    place_of = (np.arange(len(tokens)) - np.repeat(starts, lengths)).astype(np.int32)
    arrays: Arrays = {
        "words": np.frombuffer(json.dumps(words).encode("ascii"), dtype=np.uint8),
        "tokens": ids,
        "lengths": lengths,
        "files": np.array([files[sentence.file] for sentence in sentences], dtype=np.int32),
        "lines": np.array([sentence.line for sentence in sentences], dtype=np.int32),
        "row_words": ids[rows],
        "row_sentences": sentence_of[rows],
        "row_places": place_of[rows],
    }
    first_of = np.unique(ids, return_index=True)[1]  # [W], a token of each word
    for name in wanted.layers:
        unit = _unit_rows(embedded, name, wanted)  # [T, D]
        arrays[f"sum-{name}"] = unit.sum(axis=0, dtype=np.float64)
        arrays |= _stored(unit[first_of if name == TOKENS else rows], name, wanted.store)
    return arrays


def words_of(part: Arrays) -> list[str]:
    """The distinct words of a part, in the order of `word_key`."""
    words: list[str] = json.loads(part["words"].tobytes())
    return words


def file_numbers(files: Sequence[str | Path]) -> dict[str, int]:
    """Files by their places in the list; of one that is named twice the first."""
    numbers: dict[str, int] = {}
    for number, file in enumerate(files):
        numbers.setdefault(str(file), number)
    return numbers


def _unit_rows(embedded: Sequence[npt.NDArray[np.float32]], name: LayerName, wanted: Wanted) -> npt.NDArray[np.float32]:
    """One layer of all tokens as vectors of length 1: [T, D]."""
    return normalized(np.concatenate([_layer_of(vectors, name, wanted) for vectors in embedded]))


def _layer_of(vectors: npt.NDArray[np.float32], name: LayerName, wanted: Wanted) -> npt.NDArray[np.float32]:
    if wanted.asked != "all":
        return vectors
    layer: npt.NDArray[np.float32] = vectors.mean(0) if name == MEAN else vectors[int(name)]
    return layer


def _stored(unit: npt.NDArray[np.float32], name: LayerName, store: VectorStore) -> Arrays:
    if store == "float16":
        return {f"vectors-{name}": unit.astype(np.float16)}
    largest = np.maximum(unit.max(axis=1, initial=0.0), -unit.min(axis=1, initial=0.0))
    scales = np.where(largest > 0, largest / 127, 1.0).astype(np.float32)
    rounded = unit / scales[:, None]
    return {f"vectors-{name}": np.rint(rounded, out=rounded).astype(np.int8), f"scales-{name}": scales}


def _storable(word: str) -> str:
    """Words are kept as UTF-8, which has no lone surrogates."""
    return word.encode("utf-8", "replace").decode("utf-8")


def part_about(sentences: Sequence[PlacedSentence]) -> dict[str, Any]:
    """What a part says of itself: of which sentences it is."""
    return {SENTENCES_SHA256: digest_sentences(sentences)}

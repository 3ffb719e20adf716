"""An index on disk: names of its files, what they hold, and its manifest.

N rows (one for each use of a word that is kept), V words, S sentences, T tokens of these sentences, D dimensions.
Rows stand in the order of their words, uses of one word in the order of the text: all uses of a word are one slice, and
so are those of all its spellings in upper and lower case.

    words.npy             uint8    the words, one behind the other, in UTF-8; in the order of `word_key`
    word_ends.npy         int64    [V + 1] where each begins and ends
    word_starts.npy       int64    [V + 1] the first row of each word
    word_counts.npy       int64    [V] how often each occurs in the sentences, kept or not
    row_sentences.npy     int32    [N] the sentence of each row, and
    row_places.npy        int32    [N] the number of the token in it
    tokens.npy            int32    [T] the words of all sentences, by their numbers
    sentence_starts.npy   int64    [S + 1] the first token of each sentence
    sentence_files.npy    int32    [S] its file, by number, and
    sentence_lines.npy    int32    [S] its line, from 1
    vectors-K.npy         float16  [N, D] unit vectors of layer K (int8: with scales-K.npy, float32 [N]);
                                   of layer 0, which depends on nothing but the word, [V, D]
    mean-K.npy            float32  [D] the mean of the unit vectors over all rows, for centring
    distances-K.npy       float32  [N] how far each is from the mean ([V] of layer 0)
    index.json            what it was made of, and a hash of each file
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from elmo.analysis.choices import VectorStore
from elmo.model.choices import StateMode

FORMAT = 1
MANIFEST = "index.json"
MEAN = "mean"  # as the name of a layer: the mean of all

LayerName = str  # "0", "1", ... or "mean"
TOKENS: LayerName = "0"  # the layer without context

TABLES: dict[str, np.dtype[Any]] = {
    "words": np.dtype(np.uint8),
    "word_ends": np.dtype(np.int64),
    "word_starts": np.dtype(np.int64),
    "word_counts": np.dtype(np.int64),
    "row_sentences": np.dtype(np.int32),
    "row_places": np.dtype(np.int32),
    "tokens": np.dtype(np.int32),
    "sentence_starts": np.dtype(np.int64),
    "sentence_files": np.dtype(np.int32),
    "sentence_lines": np.dtype(np.int32),
}
STORED: dict[VectorStore, np.dtype[Any]] = {"float16": np.dtype(np.float16), "int8": np.dtype(np.int8)}


@dataclass(frozen=True, kw_only=True)
class IndexManifest:
    """What an index was made of."""

    format: int
    model: str  # the hash of the model's numbers
    model_name: str  # how it was called: for people
    state: StateMode
    precision: str
    dim: int
    model_layers: int
    layers: list[str]  # "0", "1", ... and "mean"
    store: VectorStore
    tokenizer: dict[str, Any]
    tokenized: bool
    only_words: list[str] | None  # None: all
    most_uses: int | None  # of each word; None: all
    files: list[str]
    rows: int
    words: int
    sentences: int
    tokens: int
    hashes: dict[str, str]


def table_file(name: str) -> str:
    return f"{name}.npy"


def vector_file(layer: LayerName) -> str:
    return f"vectors-{layer}.npy"


def scale_file(layer: LayerName) -> str:
    return f"scales-{layer}.npy"


def mean_file(layer: LayerName) -> str:
    return f"mean-{layer}.npy"


def distance_file(layer: LayerName) -> str:
    return f"distances-{layer}.npy"


def word_key(word: str) -> tuple[str, str]:
    """The order of words: spellings that differ in case alone stand together."""
    return word.lower(), word

"""The corpus store on disk: names of its files, what they hold, its version. Reads and writes nothing.

A store is a directory. T types, V vocabulary entries, and for each split N symbols, S sentences, D documents:

| file | holds |
|---|---|
| `corpus.json` | version, counts, tokenizer, options, coverage, sources, sha256 of the other files; written last |
| `vocab.txt` | softmax vocabulary: `<S>`, `</S>`, `<UNK>`, then by descending frequency in the training split |
| `type_bytes.npy` | uint8 [T, 48]: the first 48 UTF-8 bytes of each distinct spelling, padded with zeros |
| `type_lengths.npy` | uint8 [T]: how many of them count |
| `type_targets.npy` | int32 [T]: vocabulary id, 2 (`<UNK>`) for a spelling outside the vocabulary |
| `type_counts.npy` | int64 [T]: occurrences in the training split |
| `{split}_tokens.npy` | int32 [N]: the symbols (type ids), the words of each sentence and then one separator |
| `{split}_sentences.npy` | int64 [S + 1]: where in the symbols each sentence starts, and N |
| `{split}_documents.npy` | int64 [D + 1]: the first sentence of each document, and S |

Type 0 is the separator between sentences (length 0, target 1, counted once for each training sentence; a reader decides
by direction whether it stands for `<S>` or `</S>`). The other types follow by descending training frequency, ties by
bytes, so that types seen only in the held-out split come last. Sentences and documents are in the order of the input; a
document out of which held-out sentences were taken goes on as a new one, because its text is not continuous there.
"""

from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

FORMAT = 1

Ints = npt.NDArray[np.integer]

Split = Literal["train", "heldout"]
SPLITS: tuple[Split, ...] = get_args(Split)

MANIFEST = "corpus.json"
VOCABULARY = "vocab.txt"

SEPARATOR = 0  # a type id
BYTES_IN_ROW = 48

TYPE_ARRAYS: dict[str, np.dtype[Any]] = {
    "type_bytes": np.dtype("u1"),
    "type_lengths": np.dtype("u1"),
    "type_targets": np.dtype("<i4"),
    "type_counts": np.dtype("<i8"),
}
SPLIT_ARRAYS: dict[str, np.dtype[Any]] = {
    "symbols": np.dtype("<i4"),
    "sentences": np.dtype("<i8"),
    "documents": np.dtype("<i8"),
}
ARRAYS = {**TYPE_ARRAYS, **{f"{split}_{name}": dtype for split in SPLITS for name, dtype in SPLIT_ARRAYS.items()}}
# The files of symbols are called tokens, as in every store that was ever written.
FILES = {name: f"{name.replace('_symbols', '_tokens')}.npy" for name in ARRAYS}

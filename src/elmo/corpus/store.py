"""Reading a corpus store. Its arrays stay on disk and are mapped into memory; see `layout` for what they hold."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from elmo.corpus.layout import (
    ARRAYS,
    BYTES_IN_ROW,
    FILES,
    FORMAT,
    MANIFEST,
    SPLITS,
    VOCABULARY,
    Split,
)
from elmo.disk.guarded.arrayfiles import map_npy
from elmo.disk.guarded.plainfiles import exists, file_sha256, read_json, refusing, shortened
from elmo.errors import InputError
from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import END_SENTENCE_ID, UNKNOWN_ID, Vocabulary, read_vocabulary

MOST_MANIFEST_BYTES = 256 << 20  # it names every source


class SplitCounts(NamedTuple):
    """How much text a split has. `words` leaves out the separators, which are symbols too."""

    words: int
    sentences: int
    documents: int


@dataclass(frozen=True, eq=False)
class CorpusStore:
    """An open store: T types, and for each split N symbols, S sentences, D documents."""

    folder: Path
    manifest: dict[str, Any]
    type_bytes: npt.NDArray[np.uint8]  # [T, 48]
    type_lengths: npt.NDArray[np.uint8]  # [T]
    type_targets: npt.NDArray[np.int32]  # [T]
    type_counts: npt.NDArray[np.int64]  # [T]
    train_symbols: npt.NDArray[np.int32]  # [N]
    train_sentences: npt.NDArray[np.int64]  # [S + 1]
    train_documents: npt.NDArray[np.int64]  # [D + 1]
    heldout_symbols: npt.NDArray[np.int32]  # [N]
    heldout_sentences: npt.NDArray[np.int64]  # [S + 1]
    heldout_documents: npt.NDArray[np.int64]  # [D + 1]
    other_vocabulary: Vocabulary | None = None  # in place of the one on disk

    @classmethod
    def open(cls, folder: str | Path) -> "CorpusStore":
        """Open the store in a directory; what is missing or does not fit together raises InputError."""
        folder = Path(folder)
        manifest = read_manifest(folder)
        arrays: dict[str, Any] = {name: _map_array(folder / file) for name, file in FILES.items()}
        store = cls(folder, manifest, **arrays)
        store._check_shapes()
        return store

    def symbols(self, split: Split) -> npt.NDArray[np.int32]:
        """The type ids of a split, a separator after each sentence: [N]."""
        symbols: npt.NDArray[np.int32] = getattr(self, f"{split}_symbols")
        return symbols

    def sentences(self, split: Split) -> npt.NDArray[np.int64]:
        """Where each sentence starts in the symbols, and their number: [S + 1]."""
        sentences: npt.NDArray[np.int64] = getattr(self, f"{split}_sentences")
        return sentences

    def documents(self, split: Split) -> npt.NDArray[np.int64]:
        """The first sentence of each document, and the number of sentences: [D + 1]."""
        documents: npt.NDArray[np.int64] = getattr(self, f"{split}_documents")
        return documents

    @property
    def counts(self) -> dict[Split, SplitCounts]:
        """The size of each split."""
        counts = {}
        for split in SPLITS:
            sentences = len(self.sentences(split)) - 1
            counts[split] = SplitCounts(len(self.symbols(split)) - sentences, sentences, len(self.documents(split)) - 1)
        return counts

    @property
    def types(self) -> int:
        """Distinct spellings, and the separator."""
        return len(self.type_lengths)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The softmax vocabulary."""
        if self.other_vocabulary is not None:
            return self.other_vocabulary
        vocabulary = read_vocabulary(self.folder / VOCABULARY)
        if int(self.type_targets.max()) >= len(vocabulary):
            raise InputError(
                f"{self.folder / 'type_targets.npy'}: has word {self.type_targets.max()}, but {VOCABULARY} has "
                f"{len(vocabulary):,}; build the corpus again"
            )
        return vocabulary

    @property
    def tokenizer(self) -> Tokenizer:
        """How raw text becomes the kind of tokens that this store holds."""
        path = self.folder / MANIFEST
        with refusing(path, InputError):
            return Tokenizer.from_dict(self.manifest.get("tokenizer", {}))

    def with_vocabulary(self, vocabulary: Vocabulary) -> "CorpusStore":
        """The same text with the words of another vocabulary as targets; nothing on disk is changed."""
        if vocabulary.words == self.vocabulary.words:
            return self
        targets = vocabulary.ids_of(self.spelling(n) for n in range(self.types)).astype(np.int32)
        targets[targets < UNKNOWN_ID] = UNKNOWN_ID  # a text may have the word "<S>", but it means no boundary
        targets[0] = END_SENTENCE_ID
        return replace(self, type_targets=targets, other_vocabulary=vocabulary)

    def spelling(self, type_id: int) -> str:
        """The spelling of a type, as far as its row holds it; '' for the separator."""
        row = self.type_bytes[type_id, : self.type_lengths[type_id]]
        return row.tobytes().decode("utf-8", "replace")

    def verify(self) -> None:
        """Compare every file with the hash recorded for it; InputError names the first that differs."""
        hashes = self.manifest.get("hashes")
        wanted = {VOCABULARY, *FILES.values()}
        if not isinstance(hashes, dict) or hashes.keys() != wanted:
            raise InputError(f"{self.folder / MANIFEST}: does not record a hash of each file; build the corpus again")
        for name, expected in hashes.items():
            found = file_sha256(self.folder / name)
            if found != expected:
                raise InputError(
                    f"{self.folder / name}: sha256 is {found}, but {MANIFEST} says {shortened(expected)}; the file was "
                    "changed or damaged: build the corpus again"
                )

    def require_known_types(self) -> None:
        """Refuse symbols that are no types, before any of them is looked up. Reads all of them."""
        for split in SPLITS:
            symbols = self.symbols(split)
            if len(symbols) and not 0 <= int(symbols.min()) <= int(symbols.max()) < self.types:
                raise InputError(
                    f"{self.folder / FILES[f'{split}_symbols']}: has symbols outside the {self.types:,} types; "
                    "build the corpus again"
                )

    def _check_shapes(self) -> None:
        T = len(self.type_lengths)
        expected: dict[str, tuple[int, ...]] = {
            "type_bytes": (T, BYTES_IN_ROW),
            "type_lengths": (T,),
            "type_targets": (T,),
            "type_counts": (T,),
        }
        for name, dtype in ARRAYS.items():
            found = getattr(self, name)
            shape = expected.get(name, found.shape[:1])
            if found.shape != shape or found.dtype != dtype:
                raise InputError(
                    f"{self.folder / FILES[name]}: holds {found.dtype} {list(found.shape)}, but it should hold "
                    f"{dtype} {list(shape)}; build the corpus again"
                )
        path = self.folder / "type_lengths.npy"
        if not T or int(self.type_lengths.max()) > BYTES_IN_ROW or int(self.type_lengths[0]) != 0:
            raise InputError(
                f"{path}: should be 0 for the separator and at most {BYTES_IN_ROW}; build the corpus again"
            )
        if int(self.type_targets.min()) < 0:
            raise InputError(f"{self.folder / 'type_targets.npy'}: has a number below 0; build the corpus again")
        for split in SPLITS:
            for name, within in (
                ("sentences", len(self.symbols(split))),
                ("documents", len(self.sentences(split)) - 1),
            ):
                bounds = getattr(self, f"{split}_{name}")
                if not len(bounds) or bounds[0] != 0 or bounds[-1] != within or (bounds[1:] <= bounds[:-1]).any():
                    raise InputError(
                        f"{self.folder / f'{split}_{name}.npy'}: should rise from 0 to {within}; build the corpus again"
                    )


def read_manifest(folder: Path) -> dict[str, Any]:
    """What `corpus.json` says, if the folder holds a store that this version can read."""
    path = folder / MANIFEST
    if folder.is_file():
        raise InputError(f"{folder}: is a file and no corpus; make one with `elmo corpus build {folder} -o DIRECTORY`")
    if not exists(path):
        raise InputError(f"{folder}: no {MANIFEST} there, so it is no corpus; make one with `elmo corpus build`")
    try:
        manifest = read_json(path, most_bytes=MOST_MANIFEST_BYTES, refusal=InputError)
    except InputError as error:
        raise InputError(f"{error}; build the corpus again") from None
    if manifest.get("format") != FORMAT:
        found = shortened(manifest.get("format"))
        raise InputError(f"{path}: format is {found}, but this version reads {FORMAT}; build the corpus again")
    return manifest


def _map_array(path: Path) -> npt.NDArray[Any]:
    if not exists(path):
        raise InputError(f"{path}: is missing; build the corpus again")
    try:
        return map_npy(path)
    except InputError as error:
        raise InputError(f"{error}; build the corpus again") from None

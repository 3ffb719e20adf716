"""The token streams of the splits and their offsets, written from the blocks; and what of them the type table needs."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.corpus.bar import StageClock
from elmo.corpus.block import StoredBlock
from elmo.corpus.layout import FILES, SPLIT_ARRAYS, SPLITS
from elmo.corpus.split import Bools
from elmo.corpus.structure import Structure
from elmo.disk.hashed import ArrayFile, HashedFile


def write_training_counts(blocks: Sequence[StoredBlock], structure: Structure, path: Path) -> None:
    """How often the words of each block occur in the training split, as int32, block after block."""
    with HashedFile(path) as file:
        for block, heldout in _heldout_symbols(blocks, structure):
            counts = block.array("counts").astype(np.int32)  # [W]
            if heldout.any():
                counts -= np.bincount(block.array("symbols")[heldout], minlength=len(counts) + 1)[1:].astype(np.int32)
            file.write(counts.tobytes())


def write_symbols(
    blocks: Sequence[StoredBlock],
    lookups: Iterable[npt.NDArray[np.int32]],
    structure: Structure,
    folder: Path,
    *,
    clock: StageClock,
) -> dict[str, str]:
    """Write the symbols of both splits: those of the blocks, numbered anew by the types of all. Returns the hashes."""
    with ExitStack() as stack:
        files = {}
        for split in SPLITS:
            members = structure.members(split)
            count = int(structure.lengths[members].sum(dtype=np.int64)) + int(np.count_nonzero(members))
            path = folder / FILES[f"{split}_symbols"]
            files[split] = stack.enter_context(ArrayFile(path, dtype=SPLIT_ARRAYS["symbols"], shape=(count,)))
        heldout_symbols = _heldout_symbols(blocks, structure)
        for i, ((block, heldout), lookup) in enumerate(zip(heldout_symbols, lookups, strict=True), start=1):
            symbols = lookup[block.array("symbols")]
            files["train"].append(symbols[~heldout] if heldout.any() else symbols)
            files["heldout"].append(symbols[heldout])
            clock.advance(done=i, words=block.facts.words)
    return {file.path.name: file.sha256 for file in files.values()}


def write_offsets(structure: Structure, folder: Path) -> dict[str, str]:
    """Write where sentences and documents start. Returns the hashes."""
    hashes: dict[str, str] = {}
    for split in SPLITS:
        hashes |= _write_array(folder / f"{split}_sentences.npy", structure.sentence_offsets(split))
        hashes |= _write_array(folder / f"{split}_documents.npy", structure.document_offsets(split))
    return hashes


def _write_array(path: Path, values: npt.NDArray[Any]) -> dict[str, str]:
    with ArrayFile(path, dtype=values.dtype.newbyteorder("<"), shape=values.shape) as file:
        file.append(values)
    return {path.name: file.sha256}


def _heldout_symbols(blocks: Sequence[StoredBlock], structure: Structure) -> Iterator[tuple[StoredBlock, Bools]]:
    """For each block which of its symbols are held out: [N]."""
    base = 0
    for block in blocks:
        part = slice(base, base + block.facts.sentences)
        yield block, np.repeat(structure.heldout[part], structure.lengths[part].astype(np.int64) + 1)
        base += block.facts.sentences

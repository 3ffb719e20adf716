"""The parts of an index as its final files: rows of all parts by word, in memory that does not grow with the text.

Each part has its rows in the order of words, so that the rows of some neighbouring words are one slice of each part.
What grows with the text is a list of its distinct words.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import safe_open

from elmo.analysis.index.layout import (
    STORED,
    TABLES,
    TOKENS,
    distance_file,
    mean_file,
    scale_file,
    table_file,
    vector_file,
    word_key,
)
from elmo.analysis.index.parts import Wanted, words_of
from elmo.analysis.index.vectors import StoredLayer
from elmo.disk.hashed import ArrayFile
from elmo.disk.workfiles import Arrays, read_arrays
from elmo.errors import ResumeError

BYTES_AT_ONCE = 64 << 20
SEED = 0  # of the uses that are kept of a word that has more than are wanted

Ints = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class IndexWords:
    """All words of an index, V of them, and where each part has them."""

    words: list[str]
    counts: npt.NDArray[np.int64]  # [V] in the text
    found: npt.NDArray[np.int64]  # [V] rows of all parts
    kept: npt.NDArray[np.int64]  # [V] rows of the index
    of_parts: list[npt.NDArray[np.int32]]  # [W] of each part: its words by their numbers here
    row_ends: list[npt.NDArray[np.int64]]  # [W + 1] of each part: the rows of each of its words

    def chosen(self, word: int) -> npt.NDArray[np.int64] | None:
        """Which uses of a word are kept, of one that has more than are; None: all."""
        found, kept = int(self.found[word]), int(self.kept[word])
        if kept == found:
            return None
        return np.sort(np.random.default_rng([SEED, word]).choice(found, kept, replace=False))


def merge_parts(
    parts: Sequence[Path], folder: Path, wanted: Wanted, *, dim: int, most_uses: int | None
) -> tuple[dict[str, int], dict[str, str]]:
    """Write the files of an index into a folder; counts of what is there, and a hash of each file."""
    found, sums = _look_through(parts, wanted, most_uses)
    hashes: dict[str, str] = {}
    counts = _write_texts(parts, found, folder, hashes)
    _write_words(found, folder, hashes)
    _write_rows(parts, found, wanted, dim, folder, hashes)
    for layer in wanted.layers:
        mean = np.asarray(sums[layer] / max(1, counts["tokens"]), dtype=np.float32)
        _write(folder / mean_file(layer), mean, hashes)
        _write_distances(folder, layer, mean, hashes)
    return {**counts, "words": len(found.words), "rows": int(found.kept.sum())}, hashes


def _look_through(
    parts: Sequence[Path], wanted: Wanted, most_uses: int | None
) -> tuple[IndexWords, dict[str, npt.NDArray[np.float64]]]:
    """The words of all parts, and the sums of all vectors. Every part is checked against its hash."""
    counts: dict[str, int] = {}
    of_parts: list[tuple[list[str], Ints]] = []
    sums: dict[str, npt.NDArray[np.float64]] = {}
    for path in parts:
        part = _read(path)
        words = words_of(part)
        for word, count in zip(words, np.bincount(part["tokens"], minlength=len(words)).tolist(), strict=True):
            counts[word] = counts.get(word, 0) + count
        of_parts.append((words, np.bincount(part["row_words"], minlength=len(words))))
        for layer in wanted.layers:
            sums[layer] = part[f"sum-{layer}"] + sums.get(layer, np.zeros(1))
    ordered = sorted(counts, key=word_key)
    numbers = {word: number for number, word in enumerate(ordered)}
    found = np.zeros(len(ordered), np.int64)
    ids = []
    for words, rows in of_parts:
        ids.append(np.fromiter((numbers[word] for word in words), np.int32, len(words)))
        found[ids[-1]] += rows
    kept = found if most_uses is None else np.minimum(found, most_uses)
    ends = [np.concatenate([[0], np.cumsum(rows)]) for _, rows in of_parts]
    total = np.fromiter((counts[word] for word in ordered), np.int64, len(ordered))
    return IndexWords(ordered, total, found, kept, ids, ends), sums


def _write_texts(parts: Sequence[Path], found: IndexWords, folder: Path, hashes: dict[str, str]) -> dict[str, int]:
    """Sentences as the numbers of their words, and where they stand."""
    tokens, sentences = int(found.counts.sum()), 0
    lengths = []
    for path in parts:
        with safe_open(path, framework="np") as part:
            lengths.append(part.get_tensor("lengths"))
        sentences += len(lengths[-1])
    starts = np.concatenate([[0], *lengths]).cumsum(dtype=np.int64)
    _write(folder / table_file("sentence_starts"), starts, hashes)
    for table, name, size in (
        ("tokens", "tokens", tokens),
        ("sentence_files", "files", sentences),
        ("sentence_lines", "lines", sentences),
    ):
        with ArrayFile(folder / table_file(table), dtype=TABLES[table], shape=(size,)) as file:
            for path, ids in zip(parts, found.of_parts, strict=True):
                with safe_open(path, framework="np") as part:
                    values = part.get_tensor(name)
                file.append(ids[values] if table == "tokens" else values)
        hashes[file.path.name] = file.sha256
    return {"tokens": tokens, "sentences": sentences}


def _write_words(found: IndexWords, folder: Path, hashes: dict[str, str]) -> None:
    spelled = [word.encode("utf-8") for word in found.words]
    tables: dict[str, npt.NDArray[Any]] = {
        "words": np.frombuffer(b"".join(spelled), dtype=np.uint8),
        "word_ends": np.cumsum([0, *map(len, spelled)], dtype=np.int64),
        "word_starts": np.concatenate([[0], np.cumsum(found.kept)]),
        "word_counts": found.counts,
    }
    for name, table in tables.items():
        _write(folder / table_file(name), table.astype(TABLES[name]), hashes)


def _write_rows(
    parts: Sequence[Path], found: IndexWords, wanted: Wanted, dim: int, folder: Path, hashes: dict[str, str]
) -> None:
    """What there is of each row, some words at a time."""
    rows = int(found.kept.sum())
    first_sentences = _first_sentences(parts)
    by_row = ["row_sentences", "row_places"]
    by_word: list[str] = []
    with ExitStack() as stack:
        files: dict[str, ArrayFile] = {}
        for name in by_row:
            files[name] = stack.enter_context(ArrayFile(folder / table_file(name), dtype=TABLES[name], shape=(rows,)))
        for layer in wanted.layers:
            size = len(found.words) if layer == TOKENS else rows
            names = by_word if layer == TOKENS else by_row
            path = folder / vector_file(layer)
            vectors = ArrayFile(path, dtype=STORED[wanted.store], shape=(size, dim))
            files[f"vectors-{layer}"] = stack.enter_context(vectors)
            names.append(f"vectors-{layer}")
            if wanted.store == "int8":
                scales = ArrayFile(folder / scale_file(layer), dtype=np.dtype(np.float32), shape=(size,))
                files[f"scales-{layer}"] = stack.enter_context(scales)
                names.append(f"scales-{layer}")
        row_bytes = 8 + dim * 2 * max(1, len(wanted.layers))
        for first, last in _chunks(found.found, max(1, BYTES_AT_ONCE // row_bytes)):
            for chunk in _rows_of_words(parts, found, by_row, first, last, first_sentences, row_bytes):
                for name in by_row:
                    files[name].append(chunk[name])
            if by_word:
                _append_words(parts, found, by_word, first, last, files)
    hashes |= {file.path.name: file.sha256 for file in files.values()}


def _chunks(rows: npt.NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """Words [first, last) that have at most so many rows together (or one that has more), and are at most so many."""
    first, size = 0, 0
    for word, count in enumerate(rows.tolist()):
        if word > first and (size + count > most or word - first >= most):
            yield first, word
            first, size = word, 0
        size += count
    if len(rows):
        yield first, len(rows)


def _rows_of_words(
    parts: Sequence[Path],
    found: IndexWords,
    names: Sequence[str],
    first: int,
    last: int,
    first_sentences: Sequence[int],
    row_bytes: int,
) -> Iterator[Arrays]:
    """The rows of words [first, last) in their order; those of one word that has very many in several pieces."""
    pieces: list[Arrays] = []
    size = done = 0
    for number, path in enumerate(parts):
        a, b = np.searchsorted(found.of_parts[number], [first, last])
        begin, end = int(found.row_ends[number][a]), int(found.row_ends[number][b])
        if begin == end:
            continue
        with safe_open(path, framework="np") as part:
            piece = {name: part.get_slice(name)[begin:end] for name in names}
        piece["row_sentences"] = piece["row_sentences"] + np.int32(first_sentences[number])
        counts = np.diff(found.row_ends[number][a : b + 1])
        piece["word"] = np.repeat(found.of_parts[number][a:b], counts)
        pieces.append(piece)
        size += (end - begin) * row_bytes
        if last - first == 1 and size >= BYTES_AT_ONCE:
            yield _in_order(pieces, found, done=done)
            done += sum(len(one["word"]) for one in pieces)
            pieces, size = [], 0
    if pieces:
        yield _in_order(pieces, found, done=done)


def _in_order(pieces: Sequence[Arrays], found: IndexWords, *, done: int) -> Arrays:
    """Rows of several parts by word, in each word as they stand in the text; `done` of its uses came before."""
    words = np.concatenate([piece["word"] for piece in pieces])
    order = np.argsort(words, kind="stable")
    words = words[order]
    keep = np.ones(len(words), dtype=bool)
    starts = np.flatnonzero(np.diff(words, prepend=-1))
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(words)], strict=True):
        chosen = found.chosen(int(words[start]))
        if chosen is not None:
            keep[start:end] = np.isin(np.arange(done, done + end - start), chosen)
    order = order[keep]
    return {name: np.concatenate([piece[name] for piece in pieces])[order] for name in pieces[0] if name != "word"}


def _append_words(
    parts: Sequence[Path], found: IndexWords, names: Sequence[str], first: int, last: int, files: dict[str, ArrayFile]
) -> None:
    """What there is of each word once: taken from the first part that has it."""
    missing = np.ones(last - first, dtype=bool)
    made: Arrays = {}
    for number, path in enumerate(parts):
        a, b = np.searchsorted(found.of_parts[number], [first, last])
        places = found.of_parts[number][a:b] - first
        new = missing[places]
        if not new.any():
            continue
        with safe_open(path, framework="np") as part:
            for name in names:
                values = part.get_slice(name)[int(a) : int(b)]
                if name not in made:
                    made[name] = np.empty((last - first, *values.shape[1:]), values.dtype)
                made[name][places[new]] = values[new]
        missing[places] = False
        if not missing.any():
            break
    for name in names:
        files[name].append(made[name])


def _first_sentences(parts: Sequence[Path]) -> list[int]:
    first, total = [], 0
    for path in parts:
        first.append(total)
        with safe_open(path, framework="np") as part:
            total += part.get_slice("lengths").get_shape()[0]
    return first


def _write_distances(folder: Path, layer: str, mean: npt.NDArray[np.float32], hashes: dict[str, str]) -> None:
    whole = StoredLayer.map(folder, layer, mean=mean)
    with ArrayFile(folder / distance_file(layer), dtype=np.dtype(np.float32), shape=(len(whole),)) as file:
        for block in whole.blocks():
            # Mapped anew for each block, so that this process holds no more of the file than that.
            apart = StoredLayer.map(folder, layer, mean=mean).vectors(block)
            apart -= mean
            file.append(np.sqrt(np.einsum("nd,nd->n", apart, apart)))
    hashes[file.path.name] = file.sha256


def _write(path: Path, array: npt.NDArray[Any], hashes: dict[str, str]) -> None:
    with ArrayFile(path, dtype=array.dtype, shape=array.shape) as file:
        file.append(array)
    hashes[path.name] = file.sha256


def _read(path: Path) -> Arrays:
    try:
        return read_arrays(path, refusal=ResumeError)[0]
    except ResumeError as error:
        raise ResumeError(f"{error}; start again without resume") from None

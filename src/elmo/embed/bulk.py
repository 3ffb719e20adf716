"""Bulk embedding: a text of any size to an output file, in bounded memory, resumable, one row for every input line."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from tqdm import tqdm

from elmo.embed.embedder import Embedder
from elmo.embed.journal import Journal, digest_lines, journal_of
from elmo.embed.pipeline import Behind, ahead
from elmo.embed.rows import Row, Shape
from elmo.embed.selection import Layers, Pooling, check_layers, join_pieces, pool
from elmo.embed.sentences import sentence_starts
from elmo.embed.writers.hdf5 import write_hdf5
from elmo.embed.writers.jsonl import write_jsonl, write_row
from elmo.embed.writers.npz import write_npz
from elmo.embed.writers.parquet import write_parquet
from elmo.errors import ConfigError, InputError, ResumeError
from elmo.model.bilstm import State
from elmo.text.files import expand_paths, read_lines, refuse_output_in_source
from elmo.text.tokenizer import Tokenizer
from elmo.text.writing import errors_naming

Format = Literal["hdf5-allennlp", "hdf5-bilm", "parquet", "npz", "jsonl"]
Writer = Callable[[Iterable[Row], Path, Shape], None]

WRITERS: dict[Format, Writer] = {
    "hdf5-allennlp": partial(write_hdf5, layout="allennlp"),
    "hdf5-bilm": partial(write_hdf5, layout="bilm"),
    "parquet": write_parquet,
    "npz": write_npz,
    "jsonl": write_jsonl,
}
SUFFIXES: dict[str, Format] = {
    ".hdf5": "hdf5-allennlp",
    ".h5": "hdf5-allennlp",
    ".parquet": "parquet",
    ".npz": "npz",
    ".jsonl": "jsonl",
}
STANDARD_STREAM = "-"
# A part ends at either bound. Both depend on the input alone, so a resumed run makes the same parts and batches.
LINES_IN_PART = 4096
BYTES_IN_PART = 64 * 1024 * 1024
PARTS_AHEAD, PARTS_BEHIND = 1, 1


@dataclass(frozen=True, kw_only=True)
class BulkOptions:
    """What to compute for each line of the input.

    `tokenized`: lines hold tokens with white space between; otherwise they are raw text for the model's tokenizer.
    `split_sentences`: a raw line may have several sentences, embedded one by one; otherwise each line is one.
    """

    layers: Layers = "mean"
    pooling: Pooling | None = None
    tokenized: bool = False
    split_sentences: bool = True
    batch_size: int | None = None  # see `Embedder.encode`
    dtype: Literal["float32", "float16"] = "float32"

    def __post_init__(self) -> None:
        if self.batch_size is not None and self.batch_size < 1:
            raise ConfigError(f"batch_size is {self.batch_size}; it must be at least 1")
        if self.dtype not in ("float32", "float16"):
            raise ConfigError(f"dtype is {self.dtype!r}; vectors are stored as float32 or float16")


def format_of(output: str, chosen: Format | None = None) -> Format:
    """The output format: the chosen one, or what the name says."""
    if chosen is not None:
        return chosen
    if output == STANDARD_STREAM:
        return "jsonl"
    suffix = Path(output).suffix.lower()
    if suffix not in SUFFIXES:
        raise ConfigError(
            f"{output}: cannot tell the format from {suffix!r}; use {', '.join(SUFFIXES)} or name a format"
        )
    return SUFFIXES[suffix]


def embed_file(
    embedder: Embedder,
    source: str,
    output: str,
    *,
    options: BulkOptions,
    output_format: Format | None = None,
    resume: bool = False,
    overwrite: bool = False,
    show_progress_bar: bool | None = None,
) -> int:
    """Embed every line of `source` into `output` and say how many lines that were.

    `-` is standard input or output (JSON lines, written as they come, nothing to resume). Otherwise finished parts
    stand in the folder `<output>.parts` until the output is complete and takes its name.
    """
    check_layers(options.layers, embedder.layer_count)
    expand_paths([source])  # a name that is not there fails before anything is made
    refuse_output_in_source(source, output)
    if output != STANDARD_STREAM and Path(output).is_dir():
        raise InputError(f"{output}: is a directory; name a file")
    chosen = format_of(output, output_format)
    shape = shape_of(embedder, options)
    with _bar(source, show_progress_bar) as bar:
        if output == STANDARD_STREAM:
            return _to_standard_output(embedder, source, options, shape, bar)
        return _to_file(embedder, source, Path(output), options, chosen, shape, bar, resume=resume, overwrite=overwrite)


def shape_of(embedder: Embedder, options: BulkOptions) -> Shape:
    """What the rows of a job have in common."""
    return Shape(
        dim=embedder.dim,
        layers=embedder.layer_count if options.layers == "all" else None,
        pooled=options.pooling is not None,
        dtype=options.dtype,
    )


def _to_standard_output(embedder: Embedder, source: str, options: BulkOptions, shape: Shape, bar: "tqdm[Any]") -> int:
    count, carried = 0, None
    for lines, tokens in parts_of(embedder, _lines(source), options):
        rows, carried = embed_part(embedder, lines, tokens, options, first=count, carried=carried, bar=bar)
        for row in rows:
            write_row(row, sys.stdout, shape)
        sys.stdout.flush()
        count += len(lines)
    return count


def _to_file(
    embedder: Embedder,
    source: str,
    output: Path,
    options: BulkOptions,
    chosen: Format,
    shape: Shape,
    bar: "tqdm[Any]",
    *,
    resume: bool,
    overwrite: bool,
) -> int:
    if output.exists() and not overwrite:
        raise ResumeError(f"{output}: exists already; choose another name or add --overwrite")
    if not output.parent.is_dir():
        raise ConfigError(f"{output.parent}: is not a directory; make it first")
    folder = output.with_name(output.name + ".parts")
    job = {
        "model": embedder.model.sha256,
        "state": embedder.state,
        "precision": embedder.precision,
        "source": source if source == STANDARD_STREAM else str(Path(source).resolve()),
        "options": asdict(options),
    }
    if folder.exists() and not resume and not overwrite:
        raise ResumeError(f"{folder}: an interrupted run left its parts; continue with --resume or add --overwrite")
    with journal_of(folder, job, resume=resume) as journal:
        temporary = output.with_name(f".{output.name}.tmp")

        def write_rows(rows: Iterable[Row]) -> None:
            with errors_naming(output):
                WRITERS[chosen](rows, temporary, shape)
                with open(temporary, "rb+") as file:
                    os.fsync(file.fileno())

        try:
            count = _fill(journal, embedder, source, options, bar, write_rows)
            with errors_naming(output):
                os.replace(temporary, output)
        except Exception:
            if not len(journal):
                journal.remove()
            raise
        finally:
            temporary.unlink(missing_ok=True)
        journal.remove()
    return count


class _Part(NamedTuple):
    """What the journal keeps of a finished part."""

    rows: list[Row]
    digest: str
    carried: State | None


def _fill(
    journal: Journal,
    embedder: Embedder,
    source: str,
    options: BulkOptions,
    bar: "tqdm[Any]",
    write_rows: Callable[[Iterable[Row]], None],
) -> int:
    """Add the parts that the journal lacks, while all parts go into the output; says how many lines the input has.

    Lines are tokenized ahead of the model, and parts written behind it, so that it never waits for either.
    """
    done = len(journal)

    def write(parts: Iterator[_Part]) -> None:
        def rows() -> Iterator[Row]:
            yield from journal.rows(done)
            for part in parts:
                journal.append(part.rows, lines_digest=part.digest, carried=_dump(part.carried))
                yield from part.rows

        write_rows(rows())

    count = 0
    carried: State | None = None
    lines_and_tokens = ahead(parts_of(embedder, _lines(source), options), depth=PARTS_AHEAD)
    with contextlib.closing(lines_and_tokens), Behind(write, depth=PARTS_BEHIND) as behind:
        for part, (lines, tokens) in enumerate(lines_and_tokens):
            if part < done:
                journal.check(part, lines)
                bar.update(sum(map(_size, lines)))
                if part == done - 1:
                    carried = _restore(embedder, journal, part)
            else:
                rows, carried = embed_part(embedder, lines, tokens, options, first=count, carried=carried, bar=bar)
                behind.put(_Part(rows, digest_lines(lines), carried))
            count += len(lines)
    return count


def _lines(source: str) -> Iterator[str]:
    return (line for path in expand_paths([source]) for _, line in read_lines(path))


def parts_of(
    embedder: Embedder, texts: Iterable[str], options: BulkOptions
) -> Iterator[tuple[list[str], list[list[list[str]]]]]:
    """The input cut into parts: lines, and for each line its pieces (sentences) of tokens."""
    tokenizer = embedder.model.tokenizer
    if options.tokenized:
        tokenizer = Tokenizer("whitespace", None)
    elif not options.split_sentences:
        tokenizer = replace(tokenizer, language=None)
    token_bytes = 4 * embedder.dim * (embedder.layer_count if options.layers == "all" else 1)
    lines: list[str] = []
    pieces: list[list[list[str]]] = []
    size = 0
    for text in texts:
        sentences = [words for words in tokenizer.sentence_words(text) if words] or [[]]
        lines.append(text)
        pieces.append(sentences)
        size += token_bytes * sum(map(len, sentences))
        if len(lines) == LINES_IN_PART or size >= BYTES_IN_PART:
            yield lines, pieces
            lines, pieces, size = [], [], 0
    if lines:
        yield lines, pieces


def embed_part(
    embedder: Embedder,
    lines: list[str],
    tokens: list[list[list[str]]],
    options: BulkOptions,
    *,
    first: int,
    carried: State | None = None,
    bar: "tqdm[Any] | None" = None,
) -> tuple[list[Row], State | None]:
    """The rows of one part, whose first line has the number `first`; in state "carry" also the state to go on with."""
    flat = [piece for pieces in tokens for piece in pieces]
    # A line's bytes count as done in equal shares with each of its sentences.
    shares = [_size(line) / len(pieces) for line, pieces in zip(lines, tokens, strict=True) for _ in pieces]

    def advance(batch: Sequence[int]) -> None:
        if bar is not None:
            bar.update(sum(shares[n] for n in batch))

    vectors, carried = embedder.embed_tokens(
        flat,
        layers=options.layers,
        batch_size=options.batch_size,
        show_progress_bar=False,
        carried=carried,
        finished=advance,
    )
    rows = []
    results = join_pieces([len(pieces) for pieces in tokens], vectors)
    for n, (line, pieces, joined) in enumerate(zip(lines, tokens, results, strict=True)):
        if options.pooling is not None:
            joined = pool(joined, options.pooling)
        array = joined.numpy().astype(options.dtype, copy=False)
        words = [word for piece in pieces for word in piece]
        rows.append(
            Row(line=first + n, text=line, tokens=words, sentence_starts=sentence_starts(pieces), vectors=array)
        )
    return rows, carried


def _dump(carried: State | None) -> dict[str, npt.NDArray[np.floating[Any]]]:
    return {} if carried is None else {"h": _exact(carried.h), "c": _exact(carried.c)}


def _exact(state: torch.Tensor) -> npt.NDArray[np.floating[Any]]:
    """NumPy lacks bfloat16, whose values float32 holds exactly."""
    array: npt.NDArray[np.floating[Any]] = (state.float() if state.dtype == torch.bfloat16 else state).cpu().numpy()
    return array


def _restore(embedder: Embedder, journal: Journal, part: int) -> State | None:
    arrays = journal.carried(part)
    if not arrays:
        return None
    like = embedder.bilm.settled_h
    return State(*(torch.from_numpy(arrays[name]).to(like.device, like.dtype) for name in ("h", "c")))


def _bar(source: str, show: bool | None) -> "tqdm[Any]":
    """Progress in bytes of text; with an end in sight where the input is one plain file."""
    plain = os.path.isfile(source) and Path(source).suffix not in (".gz", ".xz", ".zst")
    total = os.path.getsize(source) if plain else None
    bar: tqdm[Any] = tqdm(total=total, unit="B", unit_scale=True, disable=None if show is None else not show)
    return bar


def _size(line: str) -> int:
    """Bytes of a line in its file."""
    return len(line.encode("utf-8", "surrogatepass")) + 1

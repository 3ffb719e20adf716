"""Bulk embedding: a text of any size to an output file, in bounded memory, resumable, one row for every input line."""

import contextlib
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TextIO

import numpy as np
import numpy.typing as npt
import torch

from elmo.disk.writing import errors_naming, sync_directory
from elmo.embed.bulk.finished import facts_of, remember_finished, require_finished
from elmo.embed.bulk.journal import FINISHED, Journal, digest_lines, journal_in
from elmo.embed.bulk.pipeline import Behind, ahead
from elmo.embed.bulk.progress import TextBar
from elmo.embed.bulk.writers.hdf5 import write_hdf5
from elmo.embed.bulk.writers.jsonl import write_jsonl, write_row
from elmo.embed.bulk.writers.npz import write_npz
from elmo.embed.bulk.writers.parquet import import_pyarrow, write_parquet
from elmo.embed.bulk.writers.row import Line, Row, Shape
from elmo.embed.embedder import Embedder
from elmo.embed.selection import Layers, Pooling, check_layers, join_pieces, pool
from elmo.embed.sentences import sentence_starts
from elmo.errors import ConfigError, InputError, ResumeError
from elmo.model.bilstm import State
from elmo.text.lines import expand_paths, read_groups, read_lines, refuse_output_in_source
from elmo.text.tokenizer import Tokenizer

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


@dataclass(frozen=True, kw_only=True)
class Embedded:
    """What a job came to."""

    lines: int
    tokens: int
    shape: Shape
    computed: int  # tokens that this run computed; an interrupted one may have left others
    seconds: float


def format_of(output: str, chosen: Format | None = None) -> Format:
    """The output format: the chosen one, or what the name says. Fails where what it needs is not installed."""
    found = chosen if chosen is not None else _format_by_name(output)
    if found == "parquet":
        import_pyarrow()
    return found


def _format_by_name(output: str) -> Format:
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
) -> Embedded | None:
    """Embed every line of `source` into `output` and say what that came to; None if an earlier run had finished it.

    `-` is standard input or output (JSON lines, nothing to resume): what comes through a pipe is answered as it comes.
    Otherwise finished parts stand in the folder `<output>.parts` until the output is complete and takes its name.
    """
    check_layers(options.layers, embedder.layer_count)
    files = expand_paths([source])  # a name that is not there fails before anything is made
    refuse_output_in_source(source, output)
    if output != STANDARD_STREAM and Path(output).is_dir():
        raise InputError(f"{output}: is a directory; name a file")
    chosen = format_of(output, output_format)
    shape = shape_of(embedder, options, source)
    begun = time.monotonic()
    with TextBar(files, show=show_progress_bar) as bar:
        done: _Count | None
        if output == STANDARD_STREAM:
            done = _to_standard_output(embedder, source, options, shape, bar)
        else:
            target = Path(output)
            done = _to_file(embedder, source, target, options, chosen, shape, bar, resume=resume, overwrite=overwrite)
        if done is None:
            return None
        bar.complete()
    seconds = time.monotonic() - begun
    return Embedded(lines=done.lines, tokens=done.tokens, shape=shape, computed=done.computed, seconds=seconds)


class _Count(NamedTuple):
    """Lines and tokens of the input, and the tokens that were computed now."""

    lines: int = 0
    tokens: int = 0
    computed: int = 0

    def add(self, tokens: Sequence[Sequence[Sequence[str]]], *, computed: bool) -> "_Count":
        size = _token_count(tokens)
        return _Count(self.lines + len(tokens), self.tokens + size, self.computed + (size if computed else 0))


def shape_of(embedder: Embedder, options: BulkOptions, source: str) -> Shape:
    """What the rows of a job have in common."""
    return Shape(
        dim=embedder.dim,
        layers=embedder.layer_count if options.layers == "all" else None,
        pooled=options.pooling is not None,
        dtype=options.dtype,
        files=os.path.isdir(source),
    )


def _to_standard_output(embedder: Embedder, source: str, options: BulkOptions, shape: Shape, bar: TextBar) -> _Count:
    count, carried = _Count(), None
    for group in _groups_as_they_come(source, embedder):
        for lines, tokens in parts_of(embedder, group, options):
            rows, carried = embed_part(embedder, lines, tokens, options, carried=carried, bar=bar)
            for row in rows:
                write_row(row, sys.stdout, shape)
            sys.stdout.flush()
            count = count.add(tokens, computed=True)
    return count


def _groups_as_they_come(source: str, embedder: Embedder) -> Iterator[Iterable[Line]]:
    """The lines of a pipe or terminal in groups: what it holds whenever it is read. Those of a file in one.

    In state "carry" the rows of a batch decide which line goes on from which, so there batches are not left to chance.
    """
    if source != STANDARD_STREAM or embedder.state == "carry" or _is_regular_file(sys.stdin):
        yield read_source(source)
        return
    number = 0
    for group in read_groups(source):
        yield [Line(number + n, text, None, number + n) for n, text in enumerate(group)]
        number += len(group)


def _is_regular_file(stream: TextIO) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):  # a stream in memory
        return True


def _to_file(
    embedder: Embedder,
    source: str,
    output: Path,
    options: BulkOptions,
    chosen: Format,
    shape: Shape,
    bar: TextBar,
    *,
    resume: bool,
    overwrite: bool,
) -> _Count | None:
    folder = output.with_name(output.name + ".parts")
    in_the_way = output.exists() and not overwrite
    if in_the_way and not resume:
        raise _exists(output)
    if not output.parent.is_dir():
        raise ConfigError(f"{output.parent}: is not a directory; make it first")
    job = {
        "model": embedder.model.sha256,
        "state": embedder.state,
        "precision": embedder.precision,
        "source": source if source == STANDARD_STREAM else str(Path(source).resolve()),
        "options": asdict(options),
        "format": chosen,
    }
    whole = {**job, "inputs": facts_of(expand_paths([source]))}
    if in_the_way and not folder.exists():
        require_finished(output, whole)
        return None
    with journal_in(folder) as journal:
        if not resume:
            if journal.job() is not None and not overwrite:
                raise ResumeError(
                    f"{folder}: an interrupted run left its parts; continue with --resume or add --overwrite"
                )
            journal.begin(job)
        elif not journal.resume(job):
            if in_the_way:  # and its run was killed when it had cleaned up
                require_finished(output, whole)
                journal.discard()
                return None
            journal.begin(job)
        elif (journal.job() or {}).get(FINISHED):
            if journal.output.exists() and in_the_way:
                raise _exists(output)
            if journal.output.exists() or output.exists():
                _put_in_place(journal, output, whole)
                return None
            journal.begin(job)  # somebody took the output away
        elif in_the_way:
            raise _exists(output)

        def write_rows(rows: Iterable[Row]) -> None:
            with errors_naming(output):
                WRITERS[chosen](rows, journal.output, shape)
                with open(journal.output, "rb+") as file:
                    os.fsync(file.fileno())

        try:
            count = _fill(journal, embedder, source, options, bar, write_rows)
            journal.finish(job)
        except BaseException as error:
            journal.output.unlink(missing_ok=True)
            if isinstance(error, Exception) and not len(journal):
                journal.discard()
            raise
        _put_in_place(journal, output, whole)
    return count


def _exists(output: Path) -> ResumeError:
    parts = output.with_name(output.name + ".parts")
    cure = " (with --resume it goes on from the parts that an interrupted run left)" if parts.exists() else ""
    return ResumeError(f"{output}: exists already; choose another name or add --overwrite{cure}")


def _put_in_place(journal: Journal, output: Path, job: Mapping[str, Any]) -> None:
    """Give a complete output its name, unless it has it, and clean up."""
    with errors_naming(output):
        if journal.output.exists():
            remember_finished(journal.output, output, job)
            os.replace(journal.output, output)
            sync_directory(output.parent)
    journal.clean_up()


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
    bar: TextBar,
    write_rows: Callable[[Iterable[Row]], None],
) -> _Count:
    """Add the parts that the journal lacks, while all parts go into the output; says how much the input has.

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

    count = _Count()
    carried: State | None = None
    lines_and_tokens = ahead(parts_of(embedder, read_source(source), options), depth=PARTS_AHEAD)
    with contextlib.closing(lines_and_tokens), Behind(write, depth=PARTS_BEHIND) as behind:
        for part, (lines, tokens) in enumerate(lines_and_tokens):
            if part < done:
                journal.check(part, lines)
                bar.skip(sum(map(_size, lines)), count=len(lines))
                if part == done - 1:
                    carried = _restore(embedder, journal, part)
            else:
                rows, carried = embed_part(embedder, lines, tokens, options, carried=carried, bar=bar)
                behind.put(_Part(rows, digest_lines(lines), carried))
            count = count.add(tokens, computed=part >= done)
    return count


def read_source(source: str) -> Iterator[Line]:
    """The lines of a file, of standard input, or of the files of a directory, which are then named."""
    several = os.path.isdir(source)
    number = 0
    for path in expand_paths([source]):
        for line, text in read_lines(path):
            yield Line(number, text, path if several else None, line - 1)
            number += 1


def parts_of(
    embedder: Embedder, source: Iterable[Line], options: BulkOptions
) -> Iterator[tuple[list[Line], list[list[list[str]]]]]:
    """The input cut into parts: lines, and for each line its pieces (sentences) of tokens."""
    tokenizer = embedder.model.tokenizer
    if options.tokenized:
        tokenizer = Tokenizer("whitespace", None)
    elif not options.split_sentences:
        tokenizer = replace(tokenizer, language=None)
    token_bytes = 4 * embedder.dim * (embedder.layer_count if options.layers == "all" else 1)
    lines: list[Line] = []
    pieces: list[list[list[str]]] = []
    size = 0
    for line in source:
        sentences = [words for words in tokenizer.sentence_words(line.text) if words] or [[]]
        lines.append(line)
        pieces.append(sentences)
        size += token_bytes * sum(map(len, sentences))
        if len(lines) == LINES_IN_PART or size >= BYTES_IN_PART:
            yield lines, pieces
            lines, pieces, size = [], [], 0
    if lines:
        yield lines, pieces


def embed_part(
    embedder: Embedder,
    lines: list[Line],
    tokens: list[list[list[str]]],
    options: BulkOptions,
    *,
    carried: State | None = None,
    bar: TextBar | None = None,
) -> tuple[list[Row], State | None]:
    """The rows of one part; in state "carry" also the state to go on with."""
    flat = [piece for pieces in tokens for piece in pieces]
    of_line = [n for n, pieces in enumerate(tokens) for _ in pieces]
    unfinished = list(map(len, tokens))  # pieces of each line
    token_size = sum(map(_size, lines)) / max(1, _token_count(tokens))  # bytes of the text that go with a token

    def advance(count: int) -> None:
        if bar is not None:
            bar.advance(count * token_size, tokens=count)

    def finish(batch: Sequence[int]) -> None:
        count = 0
        for line in map(of_line.__getitem__, batch):
            unfinished[line] -= 1
            count += unfinished[line] == 0
        if bar is not None:
            bar.advance(0, count=count)

    vectors, carried = embedder.embed_tokens(
        flat,
        layers=options.layers,
        batch_size=options.batch_size,
        show_progress_bar=False,
        carried=carried,
        finished=finish,
        advanced=advance,
    )
    rows = []
    results = join_pieces([len(pieces) for pieces in tokens], vectors)
    for line, pieces, joined in zip(lines, tokens, results, strict=True):
        if options.pooling is not None:
            joined = pool(joined, options.pooling)
        array = joined.numpy().astype(options.dtype, copy=False)
        words = [token for piece in pieces for token in piece]
        rows.append(Row(**line._asdict(), tokens=words, sentence_starts=sentence_starts(pieces), vectors=array))
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


def _token_count(tokens: Sequence[Sequence[Sequence[str]]]) -> int:
    return sum(len(piece) for pieces in tokens for piece in pieces)


def _size(line: Line) -> int:
    """Bytes of a line in its file."""
    return len(line.text.encode("utf-8", "surrogatepass")) + 1

"""The input of a bulk job cut into parts, and the vectors of a part."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from elmo.embed.bulk.memory import PartMemory
from elmo.embed.bulk.options import BulkOptions
from elmo.embed.bulk.progress import TextBar
from elmo.embed.bulk.tokenizing import MOST_WORKERS, TokenizedLines, tokenized
from elmo.embed.bulk.writers.part import EmbeddedPart
from elmo.embed.bulk.writers.row import Line, Shape
from elmo.embed.embedder import Embedder
from elmo.embed.numbered import Integers, NumberedSentences, running_total
from elmo.embed.selection import pool
from elmo.model.state import State
from elmo.text.lines import STANDARD_INPUT, expand_paths, read_lines
from elmo.text.tokenizer import Tokenizer

# A part ends at either bound: so many lines, or so many bytes of vectors in float32.
LINES_IN_PART = 4096
BYTES_IN_PART = 64 << 20
GPU_FACTOR = 8  # larger ones: only among many sentences are enough of like length for a batch
TEXT_FOR_WORKERS = 4 << 20  # bytes of text from which on other processes are worth their start


class PartSize(NamedTuple):
    """Where parts end. The job's record holds it, so that a resumed run makes the same parts and batches."""

    lines: int
    tokens: int


class Count(NamedTuple):
    """Lines and tokens of the input, and the tokens that were computed now."""

    lines: int = 0
    tokens: int = 0
    computed: int = 0

    def add(self, lines: TokenizedLines, *, computed: bool) -> "Count":
        size = len(lines.sentences.ids)
        return Count(self.lines + len(lines.counts), self.tokens + size, self.computed + (size if computed else 0))


def shape_of(embedder: Embedder, options: BulkOptions, source: str) -> Shape:
    """What the rows of a job have in common."""
    return Shape(
        dim=embedder.dim,
        layers=embedder.layer_count if options.layers == "all" else None,
        pooled=options.pooling is not None,
        dtype=options.dtype,
        files=os.path.isdir(source),
    )


def part_size(embedder: Embedder, options: BulkOptions) -> PartSize:
    """The size of parts for a device."""
    token_bytes = 4 * embedder.dim * (embedder.layer_count if options.layers == "all" else 1)
    factor = 1 if embedder.device_name == "cpu" else GPU_FACTOR
    return PartSize(factor * LINES_IN_PART, -(-factor * BYTES_IN_PART // token_bytes))


def size_of_source(source: str) -> int:
    """Bytes of its files; pipes have none."""
    files = [path for path in expand_paths([source]) if path != STANDARD_INPUT and os.path.isfile(path)]
    return sum(map(os.path.getsize, files))


def tokenizing_workers(embedder: Embedder, size: int, *, cores: int | None = None) -> int:
    """How many processes tokenize so many bytes: none where the model takes far longer, or the text is soon through.

    `cores` is how many there are to use; all that the process may use if not given.
    """
    if embedder.device_name == "cpu":
        return 0
    return 0 if size < TEXT_FOR_WORKERS else min(MOST_WORKERS, (cores or available_cores()) - 1)


def available_cores() -> int:
    """How many the process may use; not every system says."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def read_source(source: str) -> Iterator[Line]:
    """The lines of a file, of standard input, or of the files of a directory, which are then named."""
    several = os.path.isdir(source)
    number = 0
    for path in expand_paths([source]):
        for line, text in read_lines(path):
            yield Line(number, text, path if several else None, line - 1)
            number += 1


def tokenizer_of(embedder: Embedder, options: BulkOptions) -> Tokenizer:
    """How lines become sentences of tokens."""
    if options.tokenized:
        return Tokenizer("whitespace", None)
    return embedder.model.tokenizer if options.split_sentences else replace(embedder.model.tokenizer, language=None)


def parts_of(
    embedder: Embedder,
    source: Iterable[Line],
    options: BulkOptions,
    *,
    size: PartSize | None = None,
    workers: int = 0,
) -> Iterator[tuple[list[Line], TokenizedLines]]:
    """The input cut into parts: lines with their sentences of tokens."""
    size = size or part_size(embedder, options)
    part = _Part()
    for lines, found in tokenized(source, tokenizer_of(embedder, options), workers=workers):
        ends = found.first_tokens[1:]
        start = 0
        while start < len(lines):
            before = int(found.first_tokens[start])
            full = int(np.searchsorted(ends, before + size.tokens - part.tokens)) + 1
            stop = min(max(full, start + 1), start + size.lines - len(part.lines), len(lines))
            part.add(lines, found, start, stop)
            start = stop
            if len(part.lines) == size.lines or part.tokens >= size.tokens:
                yield part.whole()
                part = _Part()
    if part.lines:
        yield part.whole()


class _Part:
    """A part that is put together of pieces of chunks."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.tokens = 0
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._ids: list[np.ndarray] = []
        self._counts: list[Integers] = []
        self._lengths: list[Integers] = []

    def add(self, lines: list[Line], found: TokenizedLines, start: int, stop: int) -> None:
        sentence, after = found.first_sentences[start], found.first_sentences[stop]
        ids = found.sentences.ids[found.first_tokens[start] : found.first_tokens[stop]]
        used = np.unique(ids)
        words = found.sentences.words
        place = np.zeros(len(words), dtype=np.int32)
        numbers = map(self._numbers.__getitem__, map(words.__getitem__, used.tolist()))
        place[used] = np.fromiter(numbers, dtype=np.int32, count=len(used))
        self.lines += lines[start:stop]
        self.tokens += len(ids)
        self._ids.append(place[ids])
        self._counts.append(found.counts[start:stop])
        self._lengths.append(found.sentences.lengths[sentence:after])

    def whole(self) -> tuple[list[Line], TokenizedLines]:
        sentences = NumberedSentences(
            words=list(self._numbers), ids=np.concatenate(self._ids), lengths=np.concatenate(self._lengths)
        )
        return self.lines, TokenizedLines(counts=np.concatenate(self._counts), sentences=sentences)


def embed_part(
    embedder: Embedder,
    lines: list[Line],
    found: TokenizedLines,
    options: BulkOptions,
    *,
    carried: State | None = None,
    bar: TextBar | None = None,
    memory: PartMemory | None = None,
) -> tuple[EmbeddedPart, State | None]:
    """One part with its vectors, in `memory` if given; in state "carry" also the state to go on with."""
    memory = memory or PartMemory()
    of_line = np.repeat(np.arange(len(lines)), found.counts)
    unfinished = found.counts.copy()  # sentences of each line
    token_size = sum(map(line_size, lines)) / max(1, len(found.sentences.ids))  # bytes of text that go with a token

    def advance(count: int) -> None:
        if bar is not None:
            bar.advance(count * token_size, tokens=count)

    def finish(batch: Sequence[int]) -> None:
        done, times = np.unique(of_line[batch], return_counts=True)
        unfinished[done] -= times
        if bar is not None:
            bar.advance(0, count=int((unfinished[done] == 0).sum()))

    results, carried = embedder.embed_numbered(
        found.sentences,
        layers=options.layers,
        texts=np.array([len(found.sentences.lengths)]),
        dtype=options.dtype if options.pooling is None else None,
        batch_size=options.batch_size,
        show_progress_bar=False,
        carried=carried,
        finished=finish,
        advanced=advance,
        empty=memory.empty,
    )
    vectors = results.of_text(0)
    if options.pooling is not None:
        borders = found.first_tokens.tolist()
        pooled = [pool(vectors[..., a:b, :], options.pooling) for a, b in pairwise(borders)]
        memory.give_back(vectors)
        vectors = np.stack(pooled).astype(options.dtype, copy=False)
    filled = found.sentences.lengths > 0
    part = EmbeddedPart(
        lines=lines,
        words=found.sentences.words,
        ids=found.sentences.ids,
        first_tokens=found.first_tokens,
        sentence_starts=found.sentences.starts[:-1][filled],
        first_sentences=running_total(np.bincount(of_line[filled], minlength=len(lines))),
        pooled=options.pooling is not None,
        vectors=vectors,
    )
    return part, carried


def line_size(line: Line) -> int:
    """Bytes of a line in its file."""
    return len(line.text.encode("utf-8", "surrogatepass")) + 1

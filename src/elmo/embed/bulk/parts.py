"""The input of a bulk job cut into parts, and the rows of a part: its lines with their vectors."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from elmo.embed.bulk.options import BulkOptions
from elmo.embed.bulk.progress import TextBar
from elmo.embed.bulk.writers.row import Line, Row, Shape
from elmo.embed.embedder import Embedder
from elmo.embed.inputs import sentence_starts
from elmo.embed.selection import join_pieces, pool
from elmo.model.state import State
from elmo.text.lines import expand_paths, read_lines
from elmo.text.tokenizer import Tokenizer

# A part ends at either bound. Both depend on the input alone, so a resumed run makes the same parts and batches.
LINES_IN_PART = 4096
BYTES_IN_PART = 64 * 1024 * 1024


class Count(NamedTuple):
    """Lines and tokens of the input, and the tokens that were computed now."""

    lines: int = 0
    tokens: int = 0
    computed: int = 0

    def add(self, tokens: Sequence[Sequence[Sequence[str]]], *, computed: bool) -> "Count":
        size = token_count(tokens)
        return Count(self.lines + len(tokens), self.tokens + size, self.computed + (size if computed else 0))


def shape_of(embedder: Embedder, options: BulkOptions, source: str) -> Shape:
    """What the rows of a job have in common."""
    return Shape(
        dim=embedder.dim,
        layers=embedder.layer_count if options.layers == "all" else None,
        pooled=options.pooling is not None,
        dtype=options.dtype,
        files=os.path.isdir(source),
    )


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
    token_size = sum(map(line_size, lines)) / max(1, token_count(tokens))  # bytes of the text that go with a token

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
        array = joined.astype(options.dtype, copy=False)
        words = [token for piece in pieces for token in piece]
        rows.append(Row(**line._asdict(), tokens=words, sentence_starts=sentence_starts(pieces), vectors=array))
    return rows, carried


def token_count(tokens: Sequence[Sequence[Sequence[str]]]) -> int:
    return sum(len(piece) for pieces in tokens for piece in pieces)


def line_size(line: Line) -> int:
    """Bytes of a line in its file."""
    return len(line.text.encode("utf-8", "surrogatepass")) + 1

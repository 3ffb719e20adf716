"""A bulk job to standard output: what comes through a pipe is answered as it comes. Nothing to resume."""

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from typing import TextIO

from elmo.embed.bulk.options import BulkOptions
from elmo.embed.bulk.parts import Count, embed_part, parts_of, read_source
from elmo.embed.bulk.progress import TextBar
from elmo.embed.bulk.writers.formats import STANDARD_STREAM
from elmo.embed.bulk.writers.jsonl import write_row
from elmo.embed.bulk.writers.row import Line, Shape
from elmo.embed.embedder import Embedder
from elmo.text.lines import read_groups


def embed_to_stream(embedder: Embedder, source: str, options: BulkOptions, shape: Shape, bar: TextBar) -> Count:
    count, carried = Count(), None
    for group in _groups_as_they_come(source, embedder):
        for lines, found in parts_of(embedder, group, options):
            part, carried = embed_part(embedder, lines, found, options, carried=carried, bar=bar)
            for row in part.rows():
                write_row(row, sys.stdout, shape)
            sys.stdout.flush()
            count = count.add(found, computed=True)
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

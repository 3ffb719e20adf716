"""Bulk embedding: a text of any size to an output file, in bounded memory, resumable, one row for every input line."""

import time
from dataclasses import dataclass
from pathlib import Path

from elmo.embed.bulk.options import BulkOptions
from elmo.embed.bulk.parts import Count, shape_of
from elmo.embed.bulk.progress import TextBar
from elmo.embed.bulk.tofile import embed_to_file
from elmo.embed.bulk.tostream import embed_to_stream
from elmo.embed.bulk.writers.formats import FORMATS, STANDARD_STREAM, Format, format_of
from elmo.embed.bulk.writers.row import Shape
from elmo.embed.embedder import Embedder
from elmo.embed.selection import check_layers
from elmo.errors import ConfigError, InputError
from elmo.text.lines import expand_paths, refuse_output_in_source


@dataclass(frozen=True, kw_only=True)
class BulkResult:
    """What a job came to."""

    lines: int
    tokens: int
    shape: Shape
    computed: int  # tokens that this run computed; an interrupted one may have left others
    seconds: float


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
) -> BulkResult | None:
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
    if FORMATS[chosen].by_token and options.pooling is not None:
        raise ConfigError(f"a row of {chosen} is a token, but pooling gives one vector a line; leave one of them out")
    shape = shape_of(embedder, options, source)
    begun = time.monotonic()
    with TextBar(files, show=show_progress_bar) as bar:
        done: Count | None
        if output == STANDARD_STREAM:
            done = embed_to_stream(embedder, source, options, shape, bar)
        else:
            target = Path(output)
            done = embed_to_file(
                embedder, source, target, options, chosen, shape, bar, resume=resume, overwrite=overwrite
            )
        if done is None:
            return None
        bar.complete()
    seconds = time.monotonic() - begun
    return BulkResult(lines=done.lines, tokens=done.tokens, shape=shape, computed=done.computed, seconds=seconds)

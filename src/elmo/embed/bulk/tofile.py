"""A bulk job to a file: a journal holds its parts until the output is complete; an interrupted one goes on."""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.disk.writing import errors_naming, sync_directory
from elmo.embed.bulk.finished import facts_of, remember_finished, require_finished
from elmo.embed.bulk.journal import FINISHED, Journal, digest_lines, journal_in
from elmo.embed.bulk.keeping import Finished, append_parts, kept_parts
from elmo.embed.bulk.memory import PartMemory
from elmo.embed.bulk.options import BulkOptions
from elmo.embed.bulk.parts import (
    Count,
    PartSize,
    embed_part,
    line_size,
    part_size,
    parts_of,
    read_source,
    size_of_source,
    tokenizing_workers,
)
from elmo.embed.bulk.pipeline import Behind, ahead, short_turns
from elmo.embed.bulk.progress import TextBar
from elmo.embed.bulk.writers.formats import FORMATS, STANDARD_STREAM, Format
from elmo.embed.bulk.writers.row import Shape
from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError, ResumeError
from elmo.model.state import State
from elmo.ops.arrays import host
from elmo.text.lines import expand_paths

PARTS_AHEAD, PARTS_BEHIND = 1, 1
VERSION = 2  # of a journal's parts
PART_SIZE = "part_size"  # a key of the job that is said in its beginning alone


def embed_to_file(
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
) -> Count | None:
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
        "version": VERSION,
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
            journal.begin({**job, PART_SIZE: part_size(embedder, options)})
        elif not journal.resume(job):
            if in_the_way:  # and its run was killed when it had cleaned up
                require_finished(output, whole)
                journal.discard()
                return None
            journal.begin({**job, PART_SIZE: part_size(embedder, options)})
        elif (journal.job() or {}).get(FINISHED):
            if journal.output.exists() and in_the_way:
                raise _exists(output)
            if journal.output.exists() or output.exists():
                _put_in_place(journal, output, whole)
                return None
            journal.begin({**job, PART_SIZE: part_size(embedder, options)})  # somebody took the output away
        elif in_the_way:
            raise _exists(output)

        def write(finished: Iterator[Finished], done: int) -> None:
            with errors_naming(output):
                known = FORMATS[chosen]
                append = known.append
                if append is not None:
                    append_parts(journal, finished, done, lambda file: append(file, shape))
                else:
                    assert known.write is not None
                    known.write(kept_parts(journal, finished, done), journal.output, shape)
                    with open(journal.output, "rb+") as file:
                        os.fsync(file.fileno())

        try:
            count = _fill(journal, embedder, source, options, bar, write)
            journal.finish(job)
        except BaseException as error:
            if FORMATS[chosen].append is None or not len(journal):
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
            os.replace(journal.output, output)  # by hand: after the record, so that a kill between them is understood
            sync_directory(output.parent)
    journal.clean_up()


def _fill(
    journal: Journal,
    embedder: Embedder,
    source: str,
    options: BulkOptions,
    bar: TextBar,
    write: Callable[[Iterator[Finished], int], None],
) -> Count:
    """Add the parts that the journal lacks, while all parts go into the output; says how much the input has.

    Lines are tokenized ahead of the model, and parts written behind it, so that it never waits for either.
    """
    done = len(journal)
    size = _size_of(journal)
    memory = PartMemory()

    def keep(finished: Iterator[Finished]) -> None:
        write(memory.after(finished, lambda item: item.part.vectors), done)

    count = Count()
    carried: State | None = None
    workers = tokenizing_workers(embedder, size_of_source(source))
    coming = ahead(parts_of(embedder, read_source(source), options, size=size, workers=workers), depth=PARTS_AHEAD)
    turns = short_turns() if workers else contextlib.nullcontext()
    with turns, contextlib.closing(coming), Behind(keep, depth=PARTS_BEHIND) as behind:
        for number, (lines, found) in enumerate(coming):
            if number < done:
                journal.check(number, lines)
                bar.skip(sum(map(line_size, lines)), count=len(lines))
                if number == done - 1:
                    carried = _restore(embedder, journal, number)
            else:
                part, carried = embed_part(embedder, lines, found, options, carried=carried, bar=bar, memory=memory)
                behind.put(Finished(part, digest_lines(lines), _dump(carried)))
            count = count.add(found, computed=number >= done)
    return count


def _size_of(journal: Journal) -> PartSize:
    """The size of parts with which the job was begun, perhaps on another device."""
    size = (journal.job() or {}).get(PART_SIZE)
    if not (isinstance(size, list) and len(size) == 2 and all(type(n) is int and n > 0 for n in size)):
        raise ResumeError(f"{journal.folder}: {PART_SIZE} is {size!r}; start again with --overwrite")
    return PartSize(*size)


def _dump(carried: State | None) -> dict[str, npt.NDArray[np.floating[Any]]]:
    return {} if carried is None else {"h": host(carried.h), "c": host(carried.c)}


def _restore(embedder: Embedder, journal: Journal, part: int) -> State | None:
    arrays = journal.carried(part)
    return embedder.state_of(arrays["h"], arrays["c"]) if arrays else None

"""The text files of a corpus: which they are, in which order, and their text in blocks of whole lines."""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from elmo.errors import ConfigError, InputError
from elmo.text.lines import STANDARD_INPUT, expand_paths, read_lines
from elmo.text.wrapped import Lines, join_wrapped, sample_of, study_breaks

# No paragraph is longer, but a file of another kind may be one line; a worker holds a line's tokens in memory.
LONGEST_LINE = 16 << 20

# How much text a compressed file usually holds for each byte; used only to guess how far the reading has come.
_EXPANSION = {".gz": 2.7, ".xz": 3.6, ".zst": 2.9}

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class TextFile:
    """One file of text, or standard input."""

    name: str
    heldout: bool  # named as held out
    found: bool  # in a directory that was given; nobody asked for this very file
    size: int | None  # on disk, in bytes; unknown for standard input and pipes

    @property
    def expected_text(self) -> int | None:
        """About how many bytes of text the file holds."""
        return None if self.size is None else int(self.size * _EXPANSION.get(Path(self.name).suffix.lower(), 1))


@dataclass(frozen=True)
class Segment:
    """Whole lines of one source that follow each other."""

    source: TextFile
    first_line: int  # counted from 1
    text: str  # a newline between two lines, none after the last: it may be blank
    wrapped: bool  # lines of the source are joined into paragraphs


def find_sources(
    inputs: Sequence[PathLike], heldout_files: Sequence[PathLike], *, own_folders: Sequence[Path] = ()
) -> list[TextFile]:
    """The files of `inputs` in order, then those of `heldout_files` that are not among them.

    What a directory has inside `own_folders`, where the store is made, is no input.
    """
    own = tuple(os.path.join(os.path.realpath(folder), "") for folder in own_folders)
    heldout = {_identity(name): (name, found) for name, found in _expand(heldout_files, own)}
    sources: dict[str, TextFile] = {}
    for name, found in _expand(inputs, own):
        if _identity(name) in sources:
            raise ConfigError(f"{name}: is among the inputs twice; name each file once")
        sources[_identity(name)] = TextFile(name, _identity(name) in heldout, found, _size(name, found=found))
    for identity, (name, found) in heldout.items():
        if identity not in sources:
            sources[identity] = TextFile(name, True, found, _size(name, found=found))
    if not sources:
        raise ConfigError("no input: name the text files of the corpus, a directory of them, or - for standard input")
    return list(sources.values())


def read_blocks(sources: Iterable[TextFile], *, block_bytes: int, lines: Lines = "whole") -> Iterator[list[Segment]]:
    """The text of all sources in blocks of about `block_bytes`; small files share a block.

    `lines` says what becomes of lines before they are put into blocks, so that blocks make no difference to it.
    InputError names the line that cannot be read.
    """
    block: list[Segment] = []
    size = 0
    for source in sources:
        taken: list[str] = []
        first = 1
        numbered, wrapped = _read(source, lines)
        for number, line in numbered:
            taken.append(line)
            size += len(line) + 1
            if size >= block_bytes:
                yield [*block, Segment(source, first, "\n".join(taken), wrapped)]
                block, taken, size = [], [], 0
                first = number + 1
        if taken:
            block.append(Segment(source, first, "\n".join(taken), wrapped))
    if block:
        yield block


def _read(source: TextFile, lines: Lines) -> tuple[Iterator[tuple[int, str]], bool]:
    """The numbered lines of a source, or its paragraphs with the number of their last line; and which of the two."""
    numbered = read_lines(source.name, longest=LONGEST_LINE)
    if lines == "whole":
        return numbered, False
    sample = sample_of(numbered)
    breaks = study_breaks(line for _, line in sample)
    numbered = chain(sample, numbered)
    if lines == "auto" and not breaks.wrapped:
        return numbered, False
    return join_wrapped(numbered, width=breaks.width), True


def _expand(paths: Iterable[PathLike], own_folders: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    for path in paths:
        found = os.path.isdir(path)
        for name in expand_paths([path]):
            if not (found and _identity(name).startswith(own_folders)):
                yield name, found


def _identity(name: str) -> str:
    return name if name == STANDARD_INPUT else os.path.realpath(name)


def _size(name: str, *, found: bool) -> int | None:
    """The size of a file; one that was named and is empty is an error before any work is done."""
    if name == STANDARD_INPUT:
        return None
    try:
        status = os.stat(name)
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror or error}") from error
    if not stat.S_ISREG(status.st_mode):
        return None
    if status.st_size == 0 and not found:
        raise no_sentence(name)
    return status.st_size


def no_sentence(name: str) -> InputError:
    """The error for a file without any text."""
    return InputError(f"{name}: line 1: no sentence in this file, it is empty or blank; take it out of the inputs")

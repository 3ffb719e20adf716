"""Text files as streams of numbered lines, in bounded memory: plain, .gz, .xz, .zst, standard input.

Text is UTF-8 and nothing else. A line ends at `\\n` or `\\r\\n` and at no other character (U+2028, U+0085 and a lone
`\\r` stay inside a line), so that line numbers agree with those of other programs. A byte order mark is dropped.
"""

import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from elmo.errors import InputError, MissingExtraError

STANDARD_INPUT = "-"
LONGEST_LINE = 64 << 20  # bytes
_BLOCK = 1 << 20

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def expand_paths(paths: Iterable[str | os.PathLike[str]]) -> list[str]:
    """The files that `paths` stand for, in order: a directory gives its files sorted, with those of its folders.

    Hidden files and folders inside a directory are left out; `-` stays `-`.
    """
    files: list[str] = []
    for given in paths:
        path = os.fspath(given)
        if path == STANDARD_INPUT or (os.path.exists(path) and not os.path.isdir(path)):
            files.append(path)
        elif os.path.isdir(path):
            found = _files_in(path)
            if not found:
                raise InputError(f"{path}: no files in this directory (hidden ones are not read)")
            files += found
        else:
            raise InputError(f"{path}: no such file or directory")
    return files


def refuse_output_in_source(source: str, output: str | os.PathLike[str]) -> None:
    """Fail where an output would replace the text that is read, or become part of it."""
    if STANDARD_INPUT in (source, output):
        return
    read, written = Path(source).resolve(), Path(output).resolve()
    if read == written:
        raise InputError(f"{output}: is the text that is read; choose another output")
    if read.is_dir() and written.is_relative_to(read):
        raise InputError(f"{output}: lies in the directory that is read ({source}); choose an output outside of it")


def read_lines(path: str | os.PathLike[str], *, longest: int = LONGEST_LINE) -> Iterator[tuple[int, str]]:
    """The lines of one file with their numbers, from 1, without their ends; `-` is standard input.

    What cannot be read raises InputError with the file and the line: bytes that are not UTF-8, a line of more than
    `longest` bytes, damaged compressed data.
    """
    return _numbered(read_groups(path, longest=longest))


def lines_of(content: bytes, *, name: str) -> Iterator[tuple[int, str]]:
    """The same of a plain file called `name` whose bytes are here."""
    return _numbered(_groups(name, iter([content]), longest=LONGEST_LINE))


def read_groups(path: str | os.PathLike[str], *, longest: int = LONGEST_LINE) -> Iterator[list[str]]:
    """The lines of one file in groups, as they come: those of a pipe without waiting for more than it holds."""
    name = os.fspath(path)
    return _groups(name, _blocks(name), longest=longest)


def _groups(name: str, blocks: Iterator[bytes], *, longest: int) -> Iterator[list[str]]:
    before = 0
    for block in _whole_lines(name, _cut(blocks, size=longest), longest=longest):
        try:
            lines = block.decode("utf-8").split("\n")
        except UnicodeDecodeError as error:
            raise _not_utf8(name, block, before, error) from None
        yield [line.removesuffix("\r") for line in lines]
        before += len(lines)


def _numbered(groups: Iterator[list[str]]) -> Iterator[tuple[int, str]]:
    number = 0
    for lines in groups:
        for line in lines:
            number += 1
            yield number, line


def _files_in(directory: str) -> list[str]:
    found = []
    for folder, folders, names in os.walk(directory):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [os.path.join(folder, name) for name in names if not name.startswith(".")]
    return sorted(found, key=lambda path: Path(path).parts)


def _cut(blocks: Iterator[bytes], *, size: int) -> Iterator[bytes]:
    """The blocks, none longer than `size`: a line inside a block is then short enough."""
    for i, block in enumerate(blocks):
        if i == 0:
            block = block.removeprefix(_UTF8_MARK)
        for start in range(0, len(block), size):
            yield block[start : start + size]


def _whole_lines(name: str, blocks: Iterator[bytes], *, longest: int) -> Iterator[bytes]:
    """The blocks cut anew so that each holds whole lines, without the last line end."""
    line: list[bytes] = []  # the beginning of a line whose end has not come yet
    length = done = 0
    for block in blocks:
        first, last = block.find(b"\n"), block.rfind(b"\n")
        length += len(block) if first < 0 else first
        if length > longest:
            raise InputError(
                f"{name}: line {done + 1} is longer than {longest:,} bytes; is this a text file? "
                "Put a line break between paragraphs, or allow longer lines"
            )
        if first < 0:
            line.append(block)
            continue
        yield b"".join((*line, block[:last]))
        line = [block[last + 1 :]]
        length = len(line[0])
        done += block.count(b"\n")
    if length:
        yield b"".join(line)


def _not_utf8(name: str, block: bytes, before: int, error: UnicodeDecodeError) -> InputError:
    if before == 0 and block.startswith(_UTF16_MARKS):
        return InputError(f"{name}: this is UTF-16, not UTF-8; convert it with `iconv -f UTF-16 -t UTF-8`")
    line = before + 1 + block.count(b"\n", 0, error.start)
    column = error.start - block.rfind(b"\n", 0, error.start)
    return InputError(
        f"{name}: line {line} is not UTF-8: byte {block[error.start]:#04x} at position {column}; "
        "convert the file, for example with `iconv -f WINDOWS-1252 -t UTF-8`"
    )


def _blocks(name: str) -> Iterator[bytes]:
    """The bytes of a file, decompressed by its name."""
    try:
        if name == STANDARD_INPUT:
            # Without its buffer, whose lock a thread that waits for input holds, also when the program is to end.
            yield from _read_blocks(getattr(sys.stdin.buffer, "raw", sys.stdin.buffer))
            return
        with open(name, "rb") as file:
            suffix = os.path.splitext(name)[1].lower()
            yield from _DECOMPRESS.get(suffix, _read_blocks)(file)
    except _DamagedError as error:
        raise InputError(f"{name}: damaged or cut short: {error}") from error.__cause__
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror or error}") from error


class _DamagedError(Exception):
    """Compressed data that does not decompress."""


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def _read_blocks(file: _Readable) -> Iterator[bytes]:
    # `read1` hands on what a pipe has, where `read` would wait for a full block.
    read = getattr(file, "read1", file.read)
    while block := read(_BLOCK):
        yield block


def _gzip_blocks(file: BinaryIO) -> Iterator[bytes]:
    import gzip

    try:
        with gzip.open(file) as text:
            yield from _read_blocks(text)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise _DamagedError(error) from error


def _xz_blocks(file: BinaryIO) -> Iterator[bytes]:
    import lzma

    try:
        with lzma.open(file) as text:
            yield from _read_blocks(text)
    except (lzma.LZMAError, EOFError) as error:
        raise _DamagedError(error) from error


def _zstd_blocks(file: BinaryIO) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError as error:
        raise MissingExtraError(
            f"{file.name}: reading .zst files needs zstandard; install it with: pip install zstandard"
        ) from error

    # zstandard's stream reader takes a file that was cut short for a whole one; its decompression objects say where a
    # frame ends. They decompress all they are given, at most 128 KiB for each 4 bytes: given little at a time, they
    # need little memory.
    frame = None
    try:
        while block := file.read(256):
            while block:
                frame = frame or zstandard.ZstdDecompressor().decompressobj()
                if text := frame.decompress(block):
                    yield text
                block = frame.unused_data
                if frame.eof:
                    frame = None
    except zstandard.ZstdError as error:
        raise _DamagedError(error) from error
    if frame is not None:
        raise _DamagedError("the last frame has no end")


_DECOMPRESS: dict[str, Callable[[BinaryIO], Iterator[bytes]]] = {
    ".gz": _gzip_blocks,
    ".xz": _xz_blocks,
    ".zst": _zstd_blocks,
}

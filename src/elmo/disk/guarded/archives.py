"""Models in zip archives (NLPL's repository): named members only, bounded, copied under our names, never by theirs."""

import contextlib
import gzip
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from elmo.disk.guarded.plainfiles import Refusal, one_line, require_file, shortened
from elmo.errors import WeightsError

MOST_MEMBERS = 1000
MOST_DIRECTORY_BYTES = 1 << 20
# A member may grow so much when it is unpacked. Weights hardly shrink at all; text shrinks to a third.
MOST_GROWTH = 20
FREE_BYTES = 16 << 20
# What zipfile raises on a damaged archive.
UNREADABLE = (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, RuntimeError, zlib.error)

END, END_LENGTH, MOST_COMMENT = b"PK\x05\x06", 22, 65535
WIDE_LOCATOR, WIDE_LOCATOR_LENGTH = b"PK\x06\x07", 20
WIDE_END, WIDE_END_LENGTH = b"PK\x06\x06", 56


class Archive:
    """The files of an archive by their last name, wherever in it they lie."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self._path = path
        self._archive = archive
        self._members: dict[str, list[zipfile.ZipInfo]] = {}
        for member in archive.infolist():
            name = member.filename.replace("\\", "/")
            if not name.startswith("__MACOSX/") and not name.endswith("/"):
                self._members.setdefault(name.rsplit("/", 1)[-1], []).append(member)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    @property
    def names(self) -> list[str]:
        """Last names of all files."""
        return sorted(self._members)

    def copy(self, name: str, target: Path, *, most_bytes: int) -> Path:
        """Unpack the one file of that name to `target`."""
        found = self._members.get(name, [])
        where = f"{self._path}: {name}"
        if len(found) != 1:
            raise WeightsError(f"{where}: found {len(found)} such files in the archive, but one is wanted")
        (member,) = found
        allowed = min(most_bytes, MOST_GROWTH * member.compress_size + FREE_BYTES)
        if member.file_size > allowed:
            raise WeightsError(f"{where}: unpacks to {member.file_size:,} bytes, but at most {allowed:,} are read")
        if member.flag_bits & 1:
            raise WeightsError(f"{where}: is encrypted")
        try:
            with self._archive.open(member) as source, open(target, "xb") as file:
                shutil.copyfileobj(source, file, 1 << 20)
        except UNREADABLE as error:
            raise WeightsError(f"{where}: cannot be unpacked ({one_line(error)})") from None
        return target


@contextlib.contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open a zip archive whose directory has a sensible size."""
    check_directory(path, most_members=MOST_MEMBERS, most_bytes=MOST_DIRECTORY_BYTES)
    try:
        archive = zipfile.ZipFile(path)
    except UNREADABLE as error:
        raise WeightsError(f"{path}: is not a readable zip archive ({one_line(error)})") from None
    with archive:
        yield Archive(path, archive)


def is_archive(path: Path) -> bool:
    """Whether a file begins like a zip archive."""
    require_file(path)
    with open(path, "rb") as file:
        return file.read(4) == b"PK\x03\x04"


@contextlib.contextmanager
def unpacked(archive: Archive, names: Mapping[str, int], path: Path) -> Iterator[Path]:
    """A temporary directory with copies of the files `names` (and their largest sizes) that the archive has.

    An error about a copy is told as one about the archive.
    """
    with tempfile.TemporaryDirectory(prefix="elmo-") as folder:
        directory = Path(folder)
        for name, most_bytes in names.items():
            if name in archive:
                archive.copy(name, directory / name, most_bytes=most_bytes)
        try:
            yield directory
        except WeightsError as error:
            raise WeightsError(str(error).replace(folder, str(path))) from None


def gunzip(source: Path, target: Path, *, most_bytes: int) -> Path:
    """Unpack a gzip file of bounded size."""
    try:
        with gzip.open(source) as packed, open(target, "xb") as file:
            written = 0
            while block := packed.read(1 << 20):
                written += len(block)
                if written > most_bytes:
                    raise WeightsError(f"{source}: unpacks to more than {most_bytes:,} bytes, so it is not read")
                file.write(block)
    except (OSError, EOFError, zlib.error) as error:
        raise WeightsError(f"{source}: cannot be unpacked ({one_line(error)})") from None
    return target


def check_directory(path: Path, *, most_members: int, most_bytes: int, refusal: Refusal = WeightsError) -> None:
    """Refuse an archive with a directory beyond reason, before it is read."""
    size = require_file(path, refusal=refusal)
    with open(path, "rb") as file:
        members, length = _directory_size(file, size)
    if members is None or length is None:
        raise refusal(f"{path}: is not a zip archive, or it is cut short")
    if members > most_members or length > most_bytes:
        raise refusal(
            f"{path}: has a directory of {shortened(members)} files in {length:,} bytes, but at most {most_members:,} "
            f"in {most_bytes:,} are read"
        )


def _directory_size(file: BinaryIO, size: int) -> tuple[int | None, int | None]:
    """Files and bytes of the directory, as the end of the archive states them."""
    start = max(0, size - END_LENGTH - MOST_COMMENT)
    file.seek(start)
    tail = file.read(END_LENGTH + MOST_COMMENT)
    place = tail.rfind(END)
    if place < 0 or len(tail) < place + END_LENGTH:
        return None, None
    members = int.from_bytes(tail[place + 10 : place + 12], "little")
    length = int.from_bytes(tail[place + 12 : place + 16], "little")
    locator = start + place - WIDE_LOCATOR_LENGTH
    if locator >= 0:
        file.seek(locator)
        record = file.read(WIDE_LOCATOR_LENGTH)
        if record.startswith(WIDE_LOCATOR):
            file.seek(min(int.from_bytes(record[8:16], "little"), size))
            end = file.read(WIDE_END_LENGTH)
            if not end.startswith(WIDE_END) or len(end) < WIDE_END_LENGTH:
                return None, None
            members = max(members if members != 0xFFFF else 0, int.from_bytes(end[32:40], "little"))
            length = max(length if length != 0xFFFFFFFF else 0, int.from_bytes(end[40:48], "little"))
    return members, length

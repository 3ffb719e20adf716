"""The files of a repository, from a checkout or from a tar archive such as `git archive` and GitHub make."""

import os
import re
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

STANDARD_INPUT = "-"

File = tuple[str, bytes]  # its path inside the repository, and what it holds


def read_files(source: str, wanted: str) -> Iterator[File]:
    """The files whose whole path the expression `wanted` matches, in the order of their paths.

    GitHub's archives have all files in one folder named after the commit, so the path without its first folder may
    match as well. An archive has its own order, which is that of the paths where git made it.
    """
    pattern = re.compile(wanted)
    if source == STANDARD_INPUT:
        yield from _from_tar(sys.stdin.buffer, source, pattern)
    elif os.path.isdir(source):
        yield from _from_folder(Path(source), pattern)
    else:
        try:
            file = open(source, "rb")  # noqa: SIM115 - closed below; only the opening may fail like this
        except OSError as error:
            raise SystemExit(
                f"{source}: cannot be read: {error.strerror}; name a folder, a tar archive, or -"
            ) from error
        with file:
            yield from _from_tar(file, source, pattern)


def _from_folder(folder: Path, pattern: re.Pattern[str]) -> Iterator[File]:
    paths = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    names = [path.relative_to(folder).as_posix() for path in paths]
    for name in sorted(names, key=os.fsencode):  # as git sorts them
        if pattern.fullmatch(name):
            yield name, (folder / name).read_bytes()


class _Member(tarfile.TarInfo):
    """Python takes the end of a file for the end of an archive: one that was cut between two members would pass."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> "_Member":
        try:
            return super().fromtarfile(archive)
        except tarfile.EmptyHeaderError as error:
            raise tarfile.ReadError("its end is missing") from error


def _from_tar(file: IO[bytes], source: str, pattern: re.Pattern[str]) -> Iterator[File]:
    try:
        with tarfile.open(fileobj=file, mode="r|*", tarinfo=_Member) as archive:
            for member in archive:
                if not member.isfile():
                    continue
                for name in (member.name, member.name.partition("/")[2]):
                    if pattern.fullmatch(name):
                        content = archive.extractfile(member)
                        assert content is not None  # a plain file has content
                        yield name, content.read()
                        break
    except (tarfile.TarError, EOFError) as error:
        raise SystemExit(f"{source}: is no whole tar archive ({error}); get it again") from error

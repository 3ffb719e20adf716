"""Texts packed for a slow or narrow way to another machine: folders of at most so many MiB, each a fair sample of all.

    python -m recipes.english.pack mix/*.txt --into parts [--mib 50] [--form 7z]

Texts are cut between documents into pieces of 32 MiB, each packed for itself and named after its text, so that pieces
can be unpacked beside each other, and `elmo corpus build` and the card know where they are from. The pieces are dealt
out to `parts/01`, `parts/02`, ... in an order that looks random: the first folders alone have some of each text too.

`xz` needs no other program, and `elmo corpus build` reads it as it is. `7z` (PPMd, by the program 7zz) is smaller and
faster to make. It is unpacked with

    find parts -name '*.7z' -print0 | xargs -0 -n 1 -P 16 7zz x -otexts
"""

import argparse
import lzma
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from elmo.disk.writing import atomic_path, write_file
from recipes.english.documents import read_documents
from recipes.english.mix import chance

PIECE = 32 << 20  # bytes of text: a model of PPMd has learned most by then
METHOD = "-m0=PPMd:mem=192m:o=8"


def pieces(path: Path, size: int) -> Iterator[bytes]:
    """The text in pieces of about `size` bytes, cut after documents."""
    held = bytearray()
    for lines in read_documents(path):
        held += ("\n".join(lines) + "\n\n").encode("utf-8")
        if len(held) >= size:
            yield bytes(held)
            held.clear()
    if held:
        yield bytes(held)


def pack_piece(text: bytes, name: str, folder: Path, form: str) -> Path:
    """A piece as a packed file."""
    if form == "xz":
        target = folder / f"{name}.txt.xz"
        write_file(target, lzma.compress(text, preset=6))
        return target
    target = folder / f"{name}.7z"
    with atomic_path(target) as temporary:
        command = ["7zz", "a", "-bso0", "-bsp0", "-mmt1", METHOD, f"-si{name}.txt", str(temporary)]
        subprocess.run(command, input=text, check=True)
    return target


def deal_out(packed: list[Path], into: Path, limit: int) -> list[list[Path]]:
    """Move packed files into numbered folders of at most `limit` bytes each."""
    parts: list[list[Path]] = []
    room = 0
    for path in sorted(packed, key=lambda path: chance("part", path.name)):
        size = path.stat().st_size
        if size > limit:
            raise SystemExit(f"{path.name}: has {size:,} bytes alone, but a part may have {limit:,}; allow more MiB")
        if size > room:
            parts.append([])
            room = limit
        folder = into / f"{len(parts):02}"
        folder.mkdir(exist_ok=True)
        parts[-1].append(path.rename(folder / path.name))
        room -= size
    return parts


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--mib", type=float, default=50, help="of a part, at most (50)")
    parser.add_argument("--form", choices=["xz", "7z"], default="xz")
    given = parser.parse_args(arguments)
    if given.form == "7z" and shutil.which("7zz") is None:
        parser.error("--form 7z needs the program 7zz (Debian: 7zip); install it, or take xz")
    if given.into.exists():
        parser.error(f"{given.into}: is there already; remove it or name another folder")
    given.into.mkdir(parents=True)
    packed = [
        pack_piece(text, f"{path.stem}-{number:03}", given.into, given.form)
        for path in given.texts
        for number, text in enumerate(pieces(path, PIECE))
    ]
    for number, part in enumerate(deal_out(packed, given.into, int(given.mib * (1 << 20))), start=1):
        size = sum(path.stat().st_size for path in part)
        print(f"{given.into / f'{number:02}'}: {len(part)} files, {size / (1 << 20):.1f} MiB")


if __name__ == "__main__":
    main()

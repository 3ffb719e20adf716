"""Small files from strangers: regular files only, bounded in size, strict JSON, links that stay in their directory.

`refusal` is the error that says what the file is to its reader: a model's, a configuration, an interrupted work.
"""

import contextlib
import hashlib
import json
import math
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from elmo.errors import ElmoError, WeightsError

MOST_JSON_BYTES = 1 << 20  # published options.json and config.json have a few hundred bytes
MOST_DEPTH = 32
MOST_DIGITS = 19

Refusal = type[ElmoError]


def exists(path: Path) -> bool:
    """Whether there is something at `path`; what no file can be called is not there."""
    try:
        os.stat(path)
    except (OSError, ValueError):
        return False
    return True


def require_file(path: Path, *, most_bytes: int | None = None, refusal: Refusal = WeightsError) -> int:
    """The size of a regular file. Anything else (missing, a directory, a pipe, a device) and anything larger fails."""
    try:
        found = os.stat(path)
    except (OSError, ValueError) as error:
        raise refusal(f"{path}: cannot be opened ({_reason(error)})") from None
    if not stat.S_ISREG(found.st_mode):
        raise refusal(f"{path}: is not a regular file")
    if not os.access(path, os.R_OK):
        raise refusal(f"{path}: may not be read by this user")
    if most_bytes is not None and found.st_size > most_bytes:
        raise refusal(f"{path}: has {found.st_size:,} bytes, but at most {most_bytes:,} are read")
    return found.st_size


def member(directory: Path, name: str) -> Path:
    """A file of a model directory. A symbolic link may lead to another file of the same directory, nowhere else.

    The one exception is the Hugging Face cache, whose `snapshots/<revision>/` link into `blobs/` beside it.
    """
    path = directory / name
    root = directory.resolve()
    target = path.resolve()
    allowed = [root]
    if root.parent.name == "snapshots":
        allowed.append(root.parent.parent / "blobs")
    if not any(target.is_relative_to(place) for place in allowed):
        raise WeightsError(f"{path}: is a link to {target}, outside its directory; copy the file into {directory}")
    return path


def read_bytes(path: Path, *, most_bytes: int, refusal: Refusal = WeightsError) -> bytes:
    """The content of a file of bounded size, even if it grows while it is read."""
    require_file(path, most_bytes=most_bytes, refusal=refusal)
    try:
        with open(path, "rb") as file:
            content = file.read(most_bytes + 1)
    except OSError as error:
        raise refusal(f"{path}: cannot be read ({_reason(error)})") from None
    if len(content) > most_bytes:
        raise refusal(f"{path}: has more than {most_bytes:,} bytes, which is more than is read")
    return content


def read_text(path: Path, *, most_bytes: int, refusal: Refusal = WeightsError) -> str:
    """A text in UTF-8 from a file of bounded size; a byte-order mark is dropped."""
    return decode(read_bytes(path, most_bytes=most_bytes, refusal=refusal), where=str(path), refusal=refusal)


def decode(content: bytes, *, where: str, refusal: Refusal = WeightsError) -> str:
    """UTF-8 as text, without a byte-order mark."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refusal(f"{where}: is not UTF-8 (byte {error.start})") from None


def read_json(path: Path, *, most_bytes: int = MOST_JSON_BYTES, refusal: Refusal = WeightsError) -> dict[str, Any]:
    """A JSON object from a file of bounded size."""
    content = read_bytes(path, most_bytes=most_bytes, refusal=refusal)
    return parse_json(content, where=str(path), most_bytes=most_bytes, refusal=refusal)


def parse_json(
    content: bytes,
    *,
    where: str,
    most_bytes: int = MOST_JSON_BYTES,
    finite: bool = True,
    refusal: Refusal = WeightsError,
) -> dict[str, Any]:
    """A JSON object, strictly: UTF-8 (a byte-order mark is dropped), bounded depth, finite numbers unless told so."""
    if len(content) > most_bytes:
        raise refusal(f"{where}: has {len(content):,} bytes, but at most {most_bytes:,} are read")
    text = decode(content, where=where, refusal=refusal)
    try:
        value = json.loads(
            text, parse_constant=_refuse if finite else float, parse_float=finite_float, parse_int=bounded_integer
        )
    except RecursionError:
        raise refusal(f"{where}: is nested too deeply to be read") from None
    except ValueError as error:
        raise refusal(f"{where}: is not JSON ({one_line(error)})") from None
    if not isinstance(value, dict):
        raise refusal(f"{where}: found {type(value).__name__}, but an object with keys is wanted")
    require_shallow(value, where=where, refusal=refusal)
    return value


def require_shallow(value: object, *, where: str, refusal: Refusal = WeightsError) -> None:
    """Refuse tables and lists that are nested deeper than those of any file of ours."""
    if _deeper_than(value, MOST_DEPTH):
        raise refusal(f"{where}: is nested more than {MOST_DEPTH} deep")


@contextlib.contextmanager
def refusing(path: Path | str, refusal: Refusal) -> Iterator[None]:
    """Refuse a file for what is wrong with its values; a message that does not name the file gets its name."""
    try:
        yield
    except ElmoError as error:
        named = str(error) if str(path) in str(error) else f"{path}: {error}"
        raise refusal(named) from None


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    require_file(path)
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def shortened(value: object) -> str:
    """A found value as a message shows it: never long, never more than one line."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def one_line(error: BaseException) -> str:
    """What another library says, as a part of our one line."""
    return " ".join(str(error).split())[:200]


def finite_float(text: str) -> float:
    """A number with a point as another library found it; ValueError for what no file of ours needs."""
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


def bounded_integer(text: str) -> int:
    """The same without a point: one of thousands of digits takes long to read, and fits nowhere."""
    return int(text) if len(text) <= MOST_DIGITS else _refuse(text)


def _refuse(text: str) -> NoReturn:
    shown = text if len(text) <= MOST_DIGITS else f"{text[:MOST_DIGITS]}..."
    raise ValueError(f"{shown} is not a number that can be read")


def _deeper_than(value: object, depth: int) -> bool:
    if depth == 0:
        return isinstance(value, dict | list)
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_deeper_than(child, depth - 1) for child in children)


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or one_line(error)

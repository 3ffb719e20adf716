"""Small files from strangers: regular files only, bounded in size, strict JSON, links that stay in their directory."""

import hashlib
import json
import math
import os
import stat
from pathlib import Path
from typing import Any, NoReturn

from elmo.errors import WeightsError

MOST_JSON_BYTES = 1 << 20  # published options.json and config.json have a few hundred bytes
MOST_JSON_DEPTH = 32


def exists(path: Path) -> bool:
    """Whether there is something at `path`; what no file can be called is not there."""
    try:
        os.stat(path)
    except (OSError, ValueError):
        return False
    return True


def require_file(path: Path, *, most_bytes: int | None = None) -> int:
    """The size of a regular file. Anything else (missing, a directory, a pipe, a device) and anything larger fails."""
    try:
        found = os.stat(path)
    except (OSError, ValueError) as error:
        raise WeightsError(f"{path}: cannot be opened ({_reason(error)})") from None
    if not stat.S_ISREG(found.st_mode):
        raise WeightsError(f"{path}: is not a regular file")
    if not os.access(path, os.R_OK):
        raise WeightsError(f"{path}: may not be read by this user")
    if most_bytes is not None and found.st_size > most_bytes:
        raise WeightsError(f"{path}: has {found.st_size:,} bytes, but at most {most_bytes:,} are read")
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


def read_bytes(path: Path, *, most_bytes: int) -> bytes:
    """The content of a file of bounded size, even if it grows while it is read."""
    require_file(path, most_bytes=most_bytes)
    try:
        with open(path, "rb") as file:
            content = file.read(most_bytes + 1)
    except OSError as error:
        raise WeightsError(f"{path}: cannot be read ({_reason(error)})") from None
    if len(content) > most_bytes:
        raise WeightsError(f"{path}: has more than {most_bytes:,} bytes, which is more than is read")
    return content


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file of bounded size."""
    return parse_json(read_bytes(path, most_bytes=MOST_JSON_BYTES), where=str(path))


def parse_json(content: bytes, *, where: str) -> dict[str, Any]:
    """A JSON object, strictly: UTF-8 (a byte-order mark is dropped), bounded depth, finite numbers."""
    if len(content) > MOST_JSON_BYTES:
        raise WeightsError(f"{where}: has {len(content):,} bytes, but at most {MOST_JSON_BYTES:,} are read")
    try:
        value = json.loads(
            content.decode("utf-8-sig"), parse_constant=_refuse, parse_float=_finite, parse_int=_bounded_integer
        )
    except UnicodeDecodeError as error:
        raise WeightsError(f"{where}: is not UTF-8 (byte {error.start})") from None
    except RecursionError:
        raise WeightsError(f"{where}: is nested too deeply to be read") from None
    except ValueError as error:
        raise WeightsError(f"{where}: is not JSON ({one_line(error)})") from None
    if not isinstance(value, dict):
        raise WeightsError(f"{where}: found {type(value).__name__}, but an object with keys is wanted")
    if _deeper_than(value, MOST_JSON_DEPTH):
        raise WeightsError(f"{where}: is nested more than {MOST_JSON_DEPTH} deep")
    return value


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


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


def _bounded_integer(text: str) -> int:
    return int(text) if len(text) <= 19 else _refuse(f"{text[:19]}...")


def _deeper_than(value: object, depth: int) -> bool:
    if depth == 0:
        return isinstance(value, dict | list)
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_deeper_than(child, depth - 1) for child in children)


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or one_line(error)

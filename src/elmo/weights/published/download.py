"""One file from the web into the cache: resumed where it stopped, checked, and in place only when it is whole."""

import contextlib
import http.client
import json
import logging
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import IO, Any

from tqdm import tqdm

from elmo.disk.cachefolder import make_private, why_not_private
from elmo.disk.guarded.plainfiles import file_sha256, one_line, read_json
from elmo.disk.writing import sync_directory
from elmo.errors import WeightsError
from elmo.weights.published.records import fetching, record_sha256, recorded_sha256

logger = logging.getLogger(__name__)

TRIES = 5  # for each address, when a connection breaks
PAUSE_SECONDS = 1.0  # before the second try; doubled for each further one
TIMEOUT_SECONDS = 30
BLOCK = 1 << 20
MOST_BYTES = 32 << 30
BEGINNINGS = {".hdf5": b"\x89HDF", ".json": b"{", ".zip": b"PK"}


@dataclass(frozen=True, kw_only=True)
class RemoteFile:
    """A file and where it can be had. Without a known hash, the one of the first download counts."""

    name: str
    urls: tuple[str, ...]
    sha256: str | None = None


class _BrokenError(Exception):
    """A download that stopped early and can go on."""


class _StaleError(_BrokenError):
    """A partial file that must be begun anew."""


class _RefusedError(Exception):
    """An address that does not give the file; another one may."""


def fetch(file: RemoteFile, directory: Path, *, offline: bool = False) -> Path:
    """The path of the file in `directory`, downloaded if it is not there yet."""
    target = directory / file.name
    recorded = recorded_sha256(target)
    if recorded is not None and target.is_file():
        if any(why_not_private(path) for path in (target.parent, target)):
            _check_shared(file.sha256 or recorded, target)
        return target  # else checked when it came
    if offline and not target.is_file():
        raise WeightsError(f"{_by_hand(file, target)} (working offline)")
    with fetching(target):
        if not target.is_file():
            _download(file, target)
        _check(file, target)
    return target


def _check_shared(wanted: str, target: Path) -> None:
    """Hash a file again that others may have changed since."""
    found = file_sha256(target)
    if found != wanted:
        raise WeightsError(f"{target}: its sha256 is {found}, but {wanted} is wanted; remove it, or use another folder")


def _check(file: RemoteFile, target: Path) -> None:
    """Compare the hash with the one known, or with the one that was seen first; then keep it."""
    wanted = file.sha256 or recorded_sha256(target)
    found = file_sha256(target)
    fault = None
    if wanted is not None and found != wanted:
        fault = f"its sha256 is {found}, but {wanted} is wanted"
    elif not _begins_right(target):
        fault = f"does not begin like a {target.suffix} file; did a web page come instead?"
    if fault is not None:
        aside = target.with_name(f"{target.name}.wrong")
        os.replace(target, aside)
        raise WeightsError(f"{target}: {fault}; it was set aside as {aside.name}")
    record_sha256(target, found, source=file.urls[0] if file.urls else "put there by hand")


def _begins_right(path: Path) -> bool:
    """A network that wants a log-in answers with a page; its hash must not become the one that counts."""
    with open(path, "rb") as file:
        start = file.read(16).lstrip()
    return start.startswith(BEGINNINGS.get(path.suffix, b""))


def _download(file: RemoteFile, target: Path) -> None:
    reasons = []
    for url in file.urls:
        try:
            _download_from(url, target)
            return
        except _RefusedError as error:
            reasons.append(f"{urllib.parse.urlsplit(url).hostname}: {error}")
        except OSError as error:  # of the disk; those of the network are caught below
            raise WeightsError(f"{target}: cannot be written ({error.strerror or one_line(error)})") from None
    raise WeightsError(_by_hand(file, target) + (f" ({'; '.join(reasons)})" if reasons else ""))


def _by_hand(file: RemoteFile, target: Path) -> str:
    where = " or ".join(file.urls) or "the page of the model"
    return f"{file.name}: cannot be downloaded; get it from {where} and put it at {target}"


def _download_from(url: str, target: Path) -> None:
    part = target.with_name(f"{target.name}.part")
    pause = PAUSE_SECONDS
    for attempt in range(1, TRIES + 1):
        try:
            _receive(url, part)
            break
        except _BrokenError as error:
            if isinstance(error, _StaleError):
                _validator_file(part).unlink(missing_ok=True)
            if attempt == TRIES:
                raise _RefusedError(f"broke off {TRIES} times, last: {error}") from None
            logger.warning("%s: %s; going on in %.0f s", url, error, pause)
            time.sleep(pause)
            pause *= 2
    make_private(part)
    os.replace(part, target)
    _validator_file(part).unlink(missing_ok=True)
    sync_directory(target.parent)


def _receive(url: str, part: Path) -> None:
    """Add to the partial file until it is whole."""
    have = part.stat().st_size if part.is_file() else 0
    validator = _read_validator(part) if have else None
    with contextlib.closing(_open(url, start=have if validator else 0, validator=validator)) as response:
        start, total, fresh = _place(response)
        if start not in (0, have):
            raise _RefusedError(f"sent bytes from {start:,} on, but {have:,} were asked for")
        _validator_file(part).write_text(json.dumps({"validator": fresh}), encoding="utf-8")
        with open(part, "r+b" if start else "wb") as file, _progress(part, start, total) as bar:
            file.seek(start)
            for block in _blocks(response):
                file.write(block)
                bar.update(len(block))
                if file.tell() > (total if total is not None else MOST_BYTES):
                    raise _RefusedError(f"sent more than the {total or MOST_BYTES:,} bytes announced or allowed")
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
            if total is not None and file.tell() < total:
                raise _BrokenError(f"broke off after {file.tell():,} of {total:,} bytes")


def _open(url: str, *, start: int, validator: str | None) -> Any:
    request = urllib.request.Request(url, headers={"User-Agent": "elmo-embeddings", "Accept-Encoding": "identity"})
    if start and validator:
        request.add_header("Range", f"bytes={start}-")
        request.add_header("If-Range", validator)
    try:
        return _opener().open(request, timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise _StaleError("the part that is here does not belong to the file") from None
        if error.code >= 500:
            raise _BrokenError(f"the server answered {error.code} {error.reason}") from None
        raise _RefusedError(f"the server answered {error.code} {error.reason}") from None
    except urllib.error.URLError as error:
        raise _RefusedError(" ".join(str(error.reason).split())) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _BrokenError(one_line(error) or type(error).__name__) from None


def _place(response: http.client.HTTPResponse) -> tuple[int, int | None, str | None]:
    """Where the sent bytes begin, how long the whole file is, and by what to know it again."""
    headers = response.headers
    validator = headers.get("ETag") or headers.get("Last-Modified")
    if validator is not None and validator.startswith("W/"):
        validator = None  # a weak tag does not promise the same bytes
    if response.status == http.HTTPStatus.PARTIAL_CONTENT:
        unit, _, rest = headers.get("Content-Range", "").partition(" ")
        span, _, total = rest.partition("/")
        start = span.partition("-")[0]
        if unit != "bytes" or not start.isdecimal() or not total.isdecimal():
            raise _RefusedError(f"sent a part without saying which ({headers.get('Content-Range')!r})")
        return int(start), int(total), validator
    length = headers.get("Content-Length", "")
    total_size = int(length) if length.isdecimal() else None
    if total_size is not None and total_size > MOST_BYTES:
        raise _RefusedError(f"announced {total_size:,} bytes, but at most {MOST_BYTES:,} are taken")
    return 0, total_size, validator


def _blocks(response: http.client.HTTPResponse) -> Iterator[bytes]:
    while True:
        try:
            block = response.read(BLOCK)
        except http.client.IncompleteRead as error:
            yield error.partial
            raise _BrokenError("broke off") from None
        except (OSError, http.client.HTTPException) as error:
            raise _BrokenError(one_line(error) or type(error).__name__) from None
        if not block:
            return
        yield block


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follow redirects, but never from an encrypted address to an open one."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> urllib.request.Request | None:
        if req.type == "https" and urllib.parse.urlsplit(newurl).scheme != "https":
            raise urllib.error.URLError("was redirected to an unencrypted address")
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


def _opener() -> urllib.request.OpenerDirector:
    """Web addresses only: the standard opener also opens local files and FTP."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _SafeRedirects(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _progress(part: Path, start: int, total: int | None) -> "tqdm[Any]":
    return tqdm(
        desc=part.name.removesuffix(".part"),
        initial=start,
        total=total,
        unit="B",
        unit_scale=True,
        unit_divisor=1024,
        disable=not sys.stderr.isatty(),
    )


def _validator_file(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _read_validator(part: Path) -> str | None:
    try:
        found = read_json(_validator_file(part)).get("validator")
    except WeightsError:
        return None
    return found if isinstance(found, str) else None

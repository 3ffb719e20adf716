"""Raw runs: JSON lines, one a finished run, in any number of files; those of several machines go into one folder."""

import json
import logging
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from elmo.disk.guarded.plainfiles import parse_json, read_bytes
from elmo.disk.writing import errors_naming
from elmo.errors import ConfigError, InputError
from elmo.reproduce.shapes import check_run

logger = logging.getLogger(__name__)

RUNS = "runs"  # the folder in that of a report
MOST_BYTES = 1 << 28
MOST_LINE_BYTES = 1 << 22

Run = Mapping[str, Any]


class RunFile:
    """Where finished runs are written, a whole line at once; the file is begun with the first of them."""

    def __init__(self, folder: Path) -> None:
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        self.path = folder / f"{stamp}-{os.getpid()}.jsonl"

    def add(self, run: Run) -> None:
        """Append a run; it is on the disk when this returns."""
        line = json.dumps(run, ensure_ascii=False, separators=(",", ":")) + "\n"
        with errors_naming(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "ab") as file:
                file.write(line.encode())
                file.flush()
                os.fsync(file.fileno())


def read_runs(places: Iterable[Path]) -> list[dict[str, Any]]:
    """The runs in files, and in the .jsonl files of folders; each key once. A line cut off at the end is left out."""
    found: dict[str, dict[str, Any]] = {}
    counts: dict[tuple[str, ...], int] = {}
    for path in _files(places):
        lines = read_bytes(path, most_bytes=MOST_BYTES, refusal=InputError).split(b"\n")
        whole, cut = lines[:-1], lines[-1]  # behind the last line's end is nothing, or what was being written
        for number, line in enumerate(whole, start=1):
            if line.strip():
                where = f"{path}: line {number}"
                run = parse_json(line, where=where, most_bytes=MOST_LINE_BYTES, refusal=InputError)
                try:
                    layers = check_run(run, where=where)
                except ConfigError as error:
                    raise InputError(f"{error}: is no run of `elmo reproduce`; remove the line") from None
                for place, count in layers.items():
                    like = (place, *(json.dumps(run.get(name)) for name in ("kind", "set", "model", "arm", "elmo")))
                    if count != counts.setdefault(like, count):
                        raise InputError(
                            f"{where}: {place} has {count} layers, but that of the runs before it has {counts[like]}; "
                            "remove the line that is wrong"
                        )
                found.setdefault(run["key"], run)
        if cut.strip():
            logger.warning("%s: its last line was cut off and is left out", path)
    return list(found.values())


def _files(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        if place.is_dir():
            yield from sorted(place.glob("*.jsonl"))
        elif place.exists():
            yield place

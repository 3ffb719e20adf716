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
from elmo.errors import InputError

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
    for path in _files(places):
        lines = read_bytes(path, most_bytes=MOST_BYTES, refusal=InputError).split(b"\n")
        whole, cut = lines[:-1], lines[-1]  # behind the last line's end is nothing, or what was being written
        for number, line in enumerate(whole, start=1):
            if line.strip():
                where = f"{path}: line {number}"
                run = parse_json(line, where=where, most_bytes=MOST_LINE_BYTES, refusal=InputError)
                if lacking := _lacking(run):
                    raise InputError(f"{where}: is no run, which has {lacking}; remove the line")
                found.setdefault(run["key"], run)
        if cut.strip():
            logger.warning("%s: its last line was cut off and is left out", path)
    return list(found.values())


def _lacking(run: Run) -> str | None:
    """What a run has and this one does not, or not as it should be."""
    kinds: dict[str, type | tuple[type, ...]] = {"key": str, "kind": str, "set": str, "files": dict}
    if run.get("kind") in ("task", "search"):
        kinds |= {"arm": str, "metric": str, "dev": dict, "point": list, "options": list, "history": list}
        kinds |= {"seed": int, "fraction": (int, float), "seconds": (int, float), "mixes": dict}
    lacking = next((name for name, kind in kinds.items() if not isinstance(run.get(name), kind)), None)
    if lacking is None and run.get("kind") in ("task", "search") and run["metric"] not in run["dev"]:
        lacking = "dev"
    return lacking or (None if "model" in run else "model")


def _files(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        if place.is_dir():
            yield from sorted(place.glob("*.jsonl"))
        elif place.exists():
            yield place

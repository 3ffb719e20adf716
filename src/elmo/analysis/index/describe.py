"""What an index holds, and whether it is sound: for `elmo info` and `elmo verify`."""

from pathlib import Path
from typing import Any

from elmo.analysis.index.layout import MANIFEST
from elmo.analysis.index.wordindex import open_index
from elmo.disk.finding import Finding
from elmo.errors import ElmoError


def describe_index(folder: Path) -> dict[str, Any]:
    """Facts that can be printed."""
    index = open_index(folder)
    made = index.manifest
    return {
        "format": f"word-in-context index {made.format}",
        "model": made.model_name or "(not named)",
        "model_sha256": made.model,
        "state": made.state,
        "precision": made.precision,
        "layers": ", ".join(index.layers),
        "dim": made.dim,
        "store": made.store,
        "uses": made.rows,
        "words": made.words,
        "sentences": made.sentences,
        "tokens": made.tokens,
        "most_uses": made.most_uses or "all",
        "only_words": len(made.only_words) if made.only_words else "all",
        "files": len(made.files),
        "bytes": sum(path.stat().st_size for path in folder.iterdir()),
    }


def verify_index(folder: Path) -> list[Finding]:
    """Everything that can be checked of an index, in order; the list ends at the first fault."""
    findings = []
    try:
        index = open_index(folder)
        made = index.manifest
        what = f"{made.rows:,} uses of {made.words:,} words, layers {', '.join(index.layers)}"
        findings.append(Finding(True, f"{folder}: an index, all files present and of the right shape ({what})"))
        index.verify()
        findings.append(Finding(True, f"{len(made.hashes)} files have the sha256 that {MANIFEST} records"))
    except ElmoError as error:
        findings.append(Finding(False, str(error)))
    return findings

"""Whether a corpus store is sound: for `elmo verify`."""

from pathlib import Path

from elmo.corpus.layout import ARRAYS, MANIFEST
from elmo.corpus.store import CorpusStore
from elmo.disk.finding import Finding
from elmo.errors import ElmoError


def verify_store(folder: Path) -> list[Finding]:
    """Everything that can be checked of a store, in order; the list ends at the first fault."""
    findings = []
    try:
        store = CorpusStore.open(folder)
        counts = ", ".join(f"{split} {count.words:,} words" for split, count in store.counts.items())
        findings.append(
            Finding(True, f"{folder}: a corpus store, all arrays present and of the right shape ({counts})")
        )
        store.verify()
        findings.append(Finding(True, f"{len(ARRAYS) + 1} files have the sha256 that {MANIFEST} records"))
        store.require_known_types()
        known = f"symbols are of {store.types:,} types, targets among {len(store.vocabulary):,} words"
        findings.append(Finding(True, f"{known}, {store.tokenizer.rule} tokenizer"))
    except ElmoError as error:
        findings.append(Finding(False, str(error)))
    return findings

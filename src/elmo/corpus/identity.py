"""The identity of a build: all that decides the content of a store, as JSON values, to record and to compare."""

import hashlib
from collections.abc import Sequence
from typing import Any

from elmo.corpus.layout import FORMAT
from elmo.corpus.options import BuildOptions
from elmo.corpus.sources import TextFile
from elmo.text.vocabulary import Vocabulary

VOCABULARY_OPTIONS = ("vocabulary_size", "min_count", "coverage", "given_vocabulary")


def build_identity(sources: Sequence[TextFile], options: BuildOptions, given: Vocabulary | None) -> dict[str, Any]:
    """Of these files and options, and a given vocabulary."""
    words = None if given is None else hashlib.sha256("\n".join(given.words).encode("utf-8")).hexdigest()
    return {
        "format": FORMAT,
        "tokenizer": options.tokenizer.to_dict(),
        "seed": options.seed,
        "options": {**options.to_dict(), "given_vocabulary": words},
        "inputs": [source.name for source in sources],
        "heldout_inputs": [source.name for source in sources if source.heldout],
    }


def identity_of_blocks(identity: dict[str, Any]) -> dict[str, Any]:
    """What finished blocks depend on: the vocabulary is chosen when all of them are there, and may be chosen anew."""
    options = identity.get("options")
    if not isinstance(options, dict):
        return identity
    return {**identity, "options": {name: value for name, value in options.items() if name not in VOCABULARY_OPTIONS}}

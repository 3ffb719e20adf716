"""The plan of a build: all that decides the content of a store, as JSON values. Recorded, and compared on resuming."""

import hashlib
from collections.abc import Sequence
from typing import Any

from elmo.corpus.layout import FORMAT
from elmo.corpus.options import BuildOptions
from elmo.corpus.sources import Source
from elmo.text.vocabulary import Vocabulary


def make_plan(sources: Sequence[Source], options: BuildOptions, given: Vocabulary | None) -> dict[str, Any]:
    """The plan for these files and options, and a given vocabulary."""
    words = None if given is None else hashlib.sha256("\n".join(given.words).encode("utf-8")).hexdigest()
    return {
        "format": FORMAT,
        "tokenizer": options.tokenizer.to_dict(),
        "seed": options.seed,
        "options": {**options.to_dict(), "given_vocabulary": words},
        "inputs": [source.name for source in sources],
        "heldout_inputs": [source.name for source in sources if source.heldout],
    }

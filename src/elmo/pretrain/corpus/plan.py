"""The plan of a build: all that decides the content of a store, as JSON values. Recorded, and compared on resuming."""

import hashlib
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from elmo.pretrain.corpus.layout import FORMAT
from elmo.pretrain.corpus.options import BuildOptions
from elmo.pretrain.corpus.sources import Source
from elmo.text.vocabulary import Vocabulary
from elmo.weights.plainfiles import shortened


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


def first_difference(recorded: dict[str, Any], plan: dict[str, Any]) -> str | None:
    """The first thing of a plan that is not as recorded, in words."""
    for name, now in plan.items():
        before = recorded.get(name)
        if isinstance(now, dict) and isinstance(before, dict):
            difference = first_difference(before, now)
            if difference is not None:
                return f"{name}.{difference}"
        elif isinstance(now, list) and isinstance(before, list):
            for one, other in zip_longest(before, now):
                if one != other:
                    return f"{name} had {shortened(one)} where there is {shortened(other)} now"
        elif before != now:
            return f"{name} was {shortened(before)} and is {shortened(now)} now"
    return None

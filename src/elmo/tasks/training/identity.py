"""Which run a checkpoint or a finished model is of, as a value, and what another run differs in."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from elmo.disk.differences import first_difference
from elmo.errors import ResumeError
from elmo.ops.device import FORMER_PRECISIONS
from elmo.tasks.examples import Example
from elmo.tasks.recipes import Recipe

# Options of training that say how, not what: a run may go on with others.
_HOW = ("checkpoint_minutes", "cuda_graphs")
# Of options and of their values, when runs were recorded by a hash: the last ones, and those of the first such runs.
_LAST_HASHED = {"learning_rate": "rate"}
_FIRST_HASHED = {**_LAST_HASHED, "batch_size": "batch", **{now: before for before, now in FORMER_PRECISIONS.items()}}
_NEVER_HASHED = ("label_field", "text_field")  # of tasks; they came later


@dataclass(frozen=True, kw_only=True)
class RunIdentity:
    """What makes a run what it is; word vectors and biLM by the hash of their numbers."""

    recipe: Recipe
    train: Sequence[Example]
    dev: Sequence[Example]
    vectors_sha256: str | None
    bilm_sha256: str | None

    @cached_property
    def value(self) -> dict[str, Any]:
        """For JSON, and equal to what is read back from it."""
        return _plain(
            {
                **_options(self.recipe),
                "training examples": _digest(_describe(example) for example in self.train),
                "dev examples": _digest(_describe(example) for example in self.dev),
                "word vectors": self.vectors_sha256,
                "biLM": self.bilm_sha256,
            }
        )

    def refuse_other(self, recorded: object, *, where: Path) -> None:
        """Fail, and say what differs, unless what is recorded is of this run."""
        if isinstance(recorded, Mapping):
            difference = first_difference(_as_of_now(recorded, where=where), self.value)
        else:
            former = (_in_former_names(_options(self.recipe), names) for names in (_LAST_HASHED, _FIRST_HASHED))
            known = [self._former_hash(options) for options in former]
            difference = None if recorded in known else "options, data or models were others"
        if difference is not None:
            raise ResumeError(f"{where}: was begun otherwise: {difference}; go on as it was begun, or begin anew")

    def _former_hash(self, options: Mapping[str, Any]) -> str:
        """What was recorded before the value was: a hash, which cannot tell what differs."""
        digest = hashlib.sha256(json.dumps(options, sort_keys=True).encode())
        for examples in (self.train, self.dev):
            for example in examples:
                texts = tuple(text.tokens for text in example.texts)
                digest.update(repr((texts, example.answer)).encode("utf-8", "backslashreplace"))
        digest.update(f"{self.vectors_sha256 or ''}{self.bilm_sha256 or ''}".encode())
        return digest.hexdigest()


def _options(recipe: Recipe) -> dict[str, Any]:
    """All options that decide what is learned."""
    options = recipe.to_dict()
    return {**options, "train": {name: v for name, v in options["train"].items() if name not in _HOW}}


def _as_of_now(recorded: Mapping[str, Any], *, where: Path) -> dict[str, Any]:
    """What was recorded with its options under their present names, and with those that have come since."""
    tables = {name: recorded[name] for name in ("task", "embedding", "train") if name in recorded}
    return {**recorded, **_plain(_options(Recipe.from_dict(tables, where=str(where))))}


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    """As JSON gives it back: lists for tuples."""
    plain: dict[str, Any] = json.loads(json.dumps(value))
    return plain


def _in_former_names(options: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The options as they were named, those that there were, when runs were hashed."""
    task = {name: value for name, value in options["task"].items() if name not in _NEVER_HASHED}
    train = {names.get(name, name): value for name, value in options["train"].items()}
    precision = names.get(train["precision"], train["precision"])
    return {**options, "task": task, "train": {**train, "precision": precision}}


def _describe(example: Example) -> str:
    described = ([(text.tokens, text.ends) for text in example.texts], example.given, example.answer)
    return repr((*described, example.also) if example.also else described)


def _digest(values: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for value in values:
        digest.update(value.encode("utf-8", "backslashreplace"))
    return digest.hexdigest()

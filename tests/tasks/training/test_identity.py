"""Which run a checkpoint is of: what earlier versions have recorded is known again."""

import json
from pathlib import Path

import pytest
from tests.tasks.conftest import SAMPLES_OF_TASKS

from elmo.errors import ResumeError
from elmo.tasks.recipes import find_recipe
from elmo.tasks.training.identity import RunIdentity

SAMPLE = SAMPLES_OF_TASKS["classification of lines"]
# Of this very run, as commit b4d8e6c recorded it: before values were, and before a task had fields of .csv files.
FIRST_HASH = "bbc1c0b78f649747b04968ba317aadef5ccbf0e88336524487e4613eda9d850f"


def identity(**changes: object) -> RunIdentity:
    recipe = find_recipe("classification").changed({"embedding.elmo.where": "none", **changes})
    task = recipe.make_task()
    train, dev = task.training_examples(task.read(str(SAMPLE.train))), task.read(str(SAMPLE.dev))
    return RunIdentity(recipe=recipe, train=train, dev=dev, vectors_sha256=None, bilm_sha256=None)


def test_a_run_recorded_by_a_hash_is_known_again() -> None:
    identity().refuse_other(FIRST_HASH, where=Path("run"))
    with pytest.raises(ResumeError, match="run: was begun otherwise: options, data or models were others"):
        identity(**{"train.seed": 2}).refuse_other(FIRST_HASH, where=Path("run"))


def test_a_run_recorded_before_an_option_was_there_is_known_again() -> None:
    recorded = json.loads(json.dumps(identity().value))
    for name in ("text_field", "label_field"):
        del recorded["task"][name]
    identity().refuse_other(recorded, where=Path("run"))
    with pytest.raises(ResumeError, match=r"task\.text_field was 'text' and is 'review' now"):
        identity(**{"task.text_field": "review"}).refuse_other(recorded, where=Path("run"))

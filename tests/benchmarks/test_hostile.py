"""A few inputs of benchmarks/hostile, which runs thousands: every reader gets some, and so does the command line."""

import logging
from pathlib import Path

import pytest
from benchmarks.hostile.commands import commands_for, judge
from benchmarks.hostile.fuzz import make_targets
from benchmarks.hostile.target import Target
from benchmarks.hostile.works import language_model

from elmo.text.vocabulary import SPECIALS, Vocabulary
from elmo.weights.formats import write_model

INPUTS = 4  # of each reader
SLOW = ("run:",)  # a training goes on in each


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> list[Target]:
    logging.disable(logging.CRITICAL)
    found = make_targets(tmp_path_factory.mktemp("hostile") / "valid")
    logging.disable(logging.NOTSET)
    return found


def test_changed_files_are_read_or_refused_in_one_line_that_names_them(targets: list[Target], tmp_path: Path) -> None:
    outcomes = {}
    for n, target in enumerate(targets):
        for number in range(1 if target.name.startswith(SLOW) else INPUTS):
            outcome, message = target.run(tmp_path / str(n), 0, 1000 * number + n)
            outcomes.setdefault(outcome, []).append((target.name, 1000 * number + n, message))
    assert outcomes.keys() == {"read", "refused"}, {key: outcomes[key] for key in outcomes if key.isupper()}


def test_an_input_can_be_made_again_from_its_number(targets: list[Target], tmp_path: Path) -> None:
    made = []
    for _ in range(2):
        targets[0].run(tmp_path / "files", 7, 123)
        made.append((tmp_path / "files" / targets[0].changed).read_bytes())
    assert made[0] == made[1] != targets[0].files[targets[0].changed]


def test_the_command_line_ends_with_a_word_and_never_with_an_internal_error(
    targets: list[Target], tmp_path: Path
) -> None:
    model, text = tmp_path / "lm", tmp_path / "text.txt"
    write_model(language_model(Vocabulary((*SPECIALS, "the", "river"))), model)
    text.write_text("Paul NNP B-NP B-PER\nsleeps VBZ B-VP O\n", encoding="utf-8")
    pairs = [(target, command) for target in targets for command in commands_for(target, text, model)]
    outcomes = {}
    for number, (target, command) in enumerate(pairs[::3]):
        target.lay_out(tmp_path / "files")
        target.change(tmp_path / "files", 0, number)
        arguments = command(tmp_path / "files")
        outcome, words = judge(arguments)
        outcomes.setdefault(outcome, []).append((arguments, words))
    assert outcomes.keys() == {"done", "refused"}, {key: outcomes[key] for key in outcomes if key.isupper()}

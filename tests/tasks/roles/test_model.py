"""Answers of the role labeller: spans that never overlap, predicates found in raw text, places in the text."""

from pathlib import Path
from typing import Any

import pytest
import torch
from tests.tasks.conftest import SAMPLES_OF_TASKS, small_recipe

from elmo.tasks.embedding.wordlist import WordList
from elmo.tasks.roles import model as roles_model
from elmo.tasks.training.trained import TrainedTask, build_model
from elmo.tasks.training.trainer import train_task
from elmo.text.tokenizer import Tokenizer

SAMPLE = SAMPLES_OF_TASKS["roles"]
LABELS = ["ARG0", "ARG1", "C-ARG1", "V"]


def make(seed: int) -> TrainedTask:
    """A model of random weights."""
    torch.manual_seed(seed)
    recipe = small_recipe(SAMPLE, embedding__elmo__where="none")
    task = recipe.make_task()
    examples = task.read(str(SAMPLE.train))
    word_list = WordList.collect((e.tokens for e in examples), None, most=0)
    model = build_model(task, recipe.embedding, LABELS, word_list=word_list, word_dim=12, model=None).eval()
    for weights in model.parameters():
        torch.nn.init.normal_(weights, std=0.7)
    return TrainedTask(name="roles", recipe=recipe, task=task, labels=LABELS, model=model)


@pytest.mark.parametrize("seed", range(5))
def test_roles_of_a_predicate_never_overlap_and_none_but_its_own_stands_on_it(seed: int, tmp_path: Path) -> None:
    trained = make(seed)
    examples = trained.task.read(str(SAMPLE.train))
    for example, answer in zip(examples, trained.predict(examples), strict=True):
        assert [p.place for p in answer.propositions] == list(example.answer.predicates)
        for place, roles in answer.propositions:
            covered = [n for start, end, _ in roles for n in range(start, end)]
            assert len(covered) == len(set(covered))
            assert [label for start, end, label in roles if start <= place < end] == ["V"]
    lines = trained.task.write(examples, trained.predict(examples))
    (tmp_path / "answers.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    again = trained.task.read(str(tmp_path / "answers.txt"))
    assert [e.answer.propositions for e in again] == [a.propositions for a in trained.predict(examples)]


def test_predicates_of_raw_text_are_found_and_told_with_their_places(tmp_path: Path) -> None:
    recipe = small_recipe(SAMPLE, embedding__elmo__where="none", train__epochs=60)
    task = recipe.make_task()
    examples = task.read(str(SAMPLE.train))
    trained = train_task("roles", recipe, examples, examples, tmp_path / "run", device="cpu").trained
    assert trained is not None
    text = "Maria sold the old boat to Tom. A quiet evening.\n\nNobody  bought the house by the sea."
    (tmp_path / "raw.txt").write_text(text, encoding="utf-8")
    questions = task.read_questions(str(tmp_path / "raw.txt"), Tokenizer())
    found = trained.report(questions)
    assert [values["text"] for values in found] == text.split("\n")
    told: list[Any] = [[s["predicates"] for s in values["sentences"]] for values in found]
    assert [[[p["text"] for p in predicates] for predicates in line] for line in told] == [
        [["sold"], []],
        [],
        [["bought"]],
    ]
    for values in found:
        for sentence in values["sentences"]:
            for part in [*sentence["tokens"], *(r for p in sentence["predicates"] for r in [p, *p["roles"]])]:
                assert values["text"][part["start"] : part["end"]] == part["text"]
                assert 0 <= part.get("probability", 1) <= 1
    assert [(role["label"], role["text"]) for role in told[2][0][0]["roles"]] == [
        ("ARG0", "Nobody"), ("V", "bought"), ("ARG1", "the house by the sea"),
    ]  # fmt: skip
    columns = list(task.write(questions, trained.predict(questions)))
    assert columns[0] == "Maria\t-\t-\t(ARG0*)"
    assert columns[1] == "sold\t-\tsold\t(V*)"
    assert columns.count("") == 4


def test_predicates_are_answered_in_batches_of_so_many_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    trained = make(0)
    examples = trained.task.read(str(SAMPLE.train))
    together = trained.predict(examples)
    monkeypatch.setattr(roles_model, "MOST_POSITIONS", 1)
    assert trained.predict(examples) == together


def test_training_examples_of_sentences_without_predicates_teach_the_finder_alone(tmp_path: Path) -> None:
    recipe = small_recipe(SAMPLE, embedding__elmo__where="none", train__epochs=1, train__batch_size=1)
    task = recipe.make_task()
    examples = task.read(str(SAMPLE.train))
    assert train_task("roles", recipe, examples[3:6], examples, tmp_path / "run", device="cpu").done

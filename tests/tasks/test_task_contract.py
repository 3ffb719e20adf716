"""What every task that is trained must do, one test for all of them."""

from pathlib import Path

import pytest
from tests.tasks.conftest import SAMPLES_OF_TASKS, Sample, small_recipe

from elmo.errors import InputError
from elmo.tasks.recipes import RECIPES
from elmo.tasks.training.directory import load_trained_task
from elmo.tasks.training.trainer import train_task
from elmo.weights.loaded import LoadedModel

ALL = pytest.mark.parametrize("sample", SAMPLES_OF_TASKS.values(), ids=SAMPLES_OF_TASKS.keys())


def test_every_task_has_a_sample() -> None:
    assert {sample.task for sample in SAMPLES_OF_TASKS.values()} == set(RECIPES)


@ALL
def test_a_task_learns_eight_examples_by_heart_and_is_the_same_when_loaded(
    sample: Sample, model: LoadedModel, tmp_path: Path
) -> None:
    recipe = small_recipe(sample, train__epochs=60, embedding__elmo__where="both")
    task = recipe.make_task()
    eight = task.read(str(sample.train))[:8]
    result = train_task(sample.task, recipe, eight, eight, tmp_path / "run", model=model, device="cpu")
    assert result.trained is not None
    assert result.scores[task.metric] == 100.0
    answers = result.trained.predict(eight)
    loaded = load_trained_task(tmp_path / "run", device="cpu")
    others = task.read(str(sample.dev))
    assert loaded.predict(eight) == answers == [example.answer for example in eight]
    assert loaded.predict(others) == result.trained.predict(others)
    assert loaded.evaluate(eight)[task.metric] == 100.0


@ALL
def test_a_perfect_copy_scores_as_perfect_and_a_wrong_one_does_not(sample: Sample) -> None:
    task = small_recipe(sample).make_task()
    examples = task.read(str(sample.train))
    gold = [example.answer for example in examples]
    assert task.score(examples, gold)[task.metric] == 100.0
    assert task.score(examples, [sample.wrong(answer) for answer in gold])[task.metric] == 0.0


@ALL
def test_a_malformed_line_is_named_with_its_file(sample: Sample, tmp_path: Path) -> None:
    path = tmp_path / f"broken{sample.train.suffix}"
    before = sample.train.read_text("utf-8").count("\n")
    path.write_text(sample.train.read_text("utf-8") + sample.broken, encoding="utf-8")
    with pytest.raises(InputError, match=f"^{path}: line {before + sample.broken_line} "):
        small_recipe(sample).make_task().read(str(path))


@ALL
def test_an_empty_file_is_an_error(sample: Sample, tmp_path: Path) -> None:
    path = tmp_path / f"empty{sample.train.suffix}"
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="has no"):
        small_recipe(sample).make_task().read(str(path))


@ALL
def test_answers_depend_on_nothing_but_the_example(sample: Sample, model: LoadedModel, tmp_path: Path) -> None:
    recipe = small_recipe(sample, train__epochs=3)
    task = recipe.make_task()
    examples = task.read(str(sample.train))
    trained = train_task(sample.task, recipe, examples, examples, tmp_path / "run", model=model, device="cpu").trained
    assert trained is not None
    together = trained.predict(examples)
    assert together == [trained.predict([example])[0] for example in examples]
    assert together[::-1] == trained.predict(examples[::-1])


@ALL
def test_what_a_task_writes_it_can_read_as_questions(sample: Sample, tmp_path: Path) -> None:
    task = small_recipe(sample).make_task()
    examples = task.read(str(sample.train))
    path = tmp_path / "answers.txt"
    lines = task.write(examples, [example.answer for example in examples])
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert [question.texts for question in task.read_questions(str(path), None)] == [e.texts for e in examples]

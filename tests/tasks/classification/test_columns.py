"""Swapped columns are refused, and nothing that is in order."""

from pathlib import Path

import pytest
from tests.tasks.conftest import SAMPLES, SAMPLES_OF_TASKS, small_recipe

from elmo.errors import InputError
from elmo.tasks.classification.columns import refuse_a_label_each, refuse_swapped
from elmo.tasks.training.trainer import train_task

TASK = small_recipe(SAMPLES_OF_TASKS["classification of lines"]).make_task()


def swapped(path: Path, to: Path) -> Path:
    pairs = (line.split("\t") for line in path.read_text("utf-8").splitlines())
    to.write_text("".join(f"{text}\t{label}\n" for label, text in pairs), encoding="utf-8")
    return to


@pytest.mark.parametrize("name", ["reviews-train.tsv", "reviews-dev.tsv"])
def test_text_before_label_is_refused_with_the_likely_mistake(name: str, tmp_path: Path) -> None:
    path = swapped(SAMPLES / name, tmp_path / name)
    with pytest.raises(InputError, match=r"different texts such as 'positive': text and label look swapped") as error:
        TASK.read(str(path))
    assert "\n" not in str(error.value)
    assert len(TASK.read(str(SAMPLES / name))) > 1


@pytest.mark.parametrize(
    "pairs",
    [
        [("good", "yes"), ("bad", "no")],  # short texts
        [("very good indeed", "a"), ("not good at all", "b"), ("not good at all", "c")],  # long labels, many texts
        [("happy", "What a day we had here."), ("sad", "What a day we had here.")],  # one text, two judges
        [("好", "今天天气很好"), ("坏", "昨天下雨了"), ("好", "很高兴认识你")],
    ],
)
def test_odd_files_that_are_in_order_are_taken(pairs: list[tuple[str, str]]) -> None:
    refuse_swapped("file", pairs)


def test_swapped_text_without_blanks_is_noticed_too() -> None:
    with pytest.raises(InputError, match="look swapped"):
        refuse_swapped("file", [("今天天气很好", "好"), ("昨天下雨了", "坏"), ("很高兴认识你", "好")])


def test_training_on_a_label_for_each_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "train.tsv"
    path.write_text("".join(f"id{n}\tThe text number {n} is here.\n" for n in range(12)), encoding="utf-8")
    examples = TASK.read(str(path))
    recipe = small_recipe(SAMPLES_OF_TASKS["classification of lines"], embedding__elmo__where="none")
    with pytest.raises(InputError, match="12 different labels for 12 texts, such as 'id0'; is it the right column"):
        train_task("classification", recipe, examples, examples, tmp_path / "run", device="cpu")
    refuse_a_label_each([f"id{n}" for n in range(9)])
    refuse_a_label_each([f"id{n % 8}" for n in range(12)])


def test_a_dev_file_of_other_labels_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "dev.tsv"
    path.write_text("good\tThe room is lovely.\nbad\tThe room is not.\n", encoding="utf-8")
    recipe = small_recipe(SAMPLES_OF_TASKS["classification of lines"], embedding__elmo__where="none")
    train = TASK.read(str(SAMPLES / "reviews-train.tsv"))
    with pytest.raises(InputError, match=r"dev: none of its 2 label\(s\) \('bad', 'good'\) is one of training"):
        train_task("classification", recipe, train, TASK.read(str(path)), tmp_path / "run", device="cpu")

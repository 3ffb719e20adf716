"""The data sets' settings: those of the product are sound, and what is wrong in a file is named."""

import dataclasses
from pathlib import Path

import pytest

from elmo.errors import ConfigError, InputError
from elmo.reproduce.arms import ARMS
from elmo.reproduce.jobs import TaskJob, recipe_of
from elmo.reproduce.settings import TaskData, find_sets, missing_files, read_settings
from elmo.tasks.recipes import find_recipe

HEAD = '[a]\ntitle = "A"\ntask = "ner"\ntrain = "x"\ndev = "y"\ntest = "z"\nmetric = "f1"\n'
SETS = [data for data in read_settings().values() if isinstance(data, TaskData)]


@pytest.mark.parametrize("data", SETS, ids=lambda data: data.name)
def test_the_options_of_the_product_s_data_sets_are_known_to_their_recipes(data: TaskData) -> None:
    for arm in ARMS:
        chosen = data.baseline if arm == "baseline" else data.elmo
        for point in [*data.points, chosen or ()]:
            recipe = recipe_of(TaskJob(data=data, arm=arm, seed=2, fraction=0.5, point=point))
            assert (recipe.embedding.elmo.where == "none") == (arm == "baseline")
            assert recipe.train.seed == 2
            searched = TaskJob(data=data, arm=arm, seed=1, point=point, searches=True)
            assert "test" not in searched.files
            assert recipe_of(searched)
    assert find_recipe(data.task).make_task().metric == data.metric


def test_all_six_tasks_of_the_paper_have_a_data_set() -> None:
    assert {data.paper for data in SETS} - {None} == {"squad", "snli", "srl", "coref", "ner", "sst-5"}


def test_the_default_arm_of_a_table_is_what_its_name_says() -> None:
    ner = next(data for data in SETS if data.name == "conll2003")
    found = {arm: recipe_of(TaskJob(data=ner, arm=arm, seed=1)).embedding.elmo for arm in ARMS}
    assert {arm: elmo.where for arm, elmo in found.items()} == {
        "baseline": "none", "input": "input", "both": "both", "output": "output", "top": "input", "lambda 1": "input",
        "lambda 0.001": "input", "tuned": "input",
    }  # fmt: skip
    assert found["top"].layers == "top"
    assert (found["lambda 1"].mix_l2, found["lambda 0.001"].mix_l2) == (1.0, 0.001)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('colour = "red"', r"\[a\]: unknown key 'colour'"),
        ("baseline = []", "a: baseline and elmo are chosen options of both arms"),
        ("fractions = [1.0]", r"a: fractions are \[1.0\]; they lie between 0 and 1"),
        ('grid = ["a=1,2,3", "b=1,2"]', "a: the grid has 6 points; at most 4 are tried"),
        ("minutes = 0", "a: seeds are from 1, minutes above 0"),
    ],
)
def test_what_is_wrong_is_named(more: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "sets.toml").write_text(HEAD + more + "\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        read_settings(tmp_path / "sets.toml")


@pytest.mark.parametrize("text", ['[a]\ntask = "naming"\n', "a = 1\n", '["A b"]\ntask = "ner"\n'])
def test_a_table_that_is_no_data_set_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "sets.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"sets.toml: \["):
        read_settings(tmp_path / "sets.toml")


def test_sets_are_found_by_name_and_their_missing_files_are_told(tmp_path: Path) -> None:
    (tmp_path / "sets.toml").write_text(HEAD, encoding="utf-8")
    sets = read_settings(tmp_path / "sets.toml")
    assert list(find_sets(sets, ["a"])) == ["a"]
    with pytest.raises(InputError, match="there is no data set 'b'; there are a"):
        find_sets(sets, ["b"])
    (tmp_path / "x").touch()
    assert missing_files(sets["a"], tmp_path) == [tmp_path / "y", tmp_path / "z"]
    long = dataclasses.replace(sets["a"], train="n" * 3000)
    assert missing_files(long, tmp_path)[0] == tmp_path / long.train

"""Recipes: options changed by name, from a file, and as they were named before."""

from pathlib import Path

import pytest

from elmo.errors import ConfigError
from elmo.tasks.recipes import RECIPES, changed_by_file, find_recipe


def test_options_are_changed_by_name() -> None:
    recipe = find_recipe("ner").changed({"train.learning_rate": 0.01, "embedding.characters": None})
    assert recipe.train.learning_rate == 0.01
    assert recipe.embedding.characters is None
    again = recipe.changed({"embedding.characters.dim": 7})  # a table where there was none
    assert again.embedding.characters is not None
    assert again.embedding.characters.dim == 7


def test_former_names_change_the_options_of_today(tmp_path: Path) -> None:
    file = tmp_path / "options.toml"
    file.write_text("[train]\nrate = 0.01\nbatch = 3\nprecision = 'fp32'\n", "utf-8")
    train = changed_by_file(find_recipe("ner"), file).train
    assert (train.learning_rate, train.batch_size, train.precision) == (0.01, 3, "float32")


@pytest.mark.parametrize(("name", "message"), [("train.rates", "unknown key 'rates'"), ("nothing.at.all", "nothing")])
def test_an_option_that_is_none_is_refused(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        find_recipe("ner").changed({name: 1})


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_read_back_from_its_mapping(name: str) -> None:
    recipe = find_recipe(name)
    assert type(recipe).from_dict(recipe.to_dict()) == recipe

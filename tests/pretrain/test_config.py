"""The configuration: round trips, recipes, and errors that name the place."""

import json
from pathlib import Path

import pytest

from elmo.errors import ConfigError
from elmo.lm.head import FullConfig
from elmo.model.architecture import BiLMConfig
from elmo.pretrain.config import RECIPE_NAMES, TrainConfig
from elmo.pretrain.sizes import model_of_size
from elmo.pretrain.step.optimizers import AdagradConfig


@pytest.mark.parametrize("name", RECIPE_NAMES)
def test_recipes_survive_a_round_trip_through_json(name):
    config = TrainConfig.recipe(name)
    assert TrainConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_the_default_is_the_modern_recipe():
    assert TrainConfig.recipe("modern") == TrainConfig()


def test_the_papers_recipe_has_the_papers_numbers():
    config = TrainConfig.recipe("paper")
    assert config.optimizer == AdagradConfig(learning_rate=0.2, initial_accumulator=1.0)
    assert (config.batch_size, config.window, config.epochs, config.dropout) == (3 * 128, 20, 10, 0.1)
    assert (config.loss_sum, config.clip, config.loss.samples) == ("window", 10.0, 8192)
    assert config.reset == 0
    assert config.architecture == model_of_size("original")


@pytest.mark.parametrize("kind", ["adam", "adagrad", "muon"])
def test_a_learning_rate_under_its_former_name_is_read(kind):
    config = TrainConfig.from_dict({"optimizer": {"kind": kind, "rate": 0.01}})
    assert config.optimizer.learning_rate == 0.01
    assert TrainConfig.from_dict(config.to_dict()) == config


@pytest.mark.parametrize(
    ("size", "cell", "output", "highways"),
    [("small", 1024, 128, 1), ("medium", 2048, 256, 1), ("original", 4096, 512, 2)],
)
def test_sizes_are_the_published_ones(size, cell, output, highways):
    model = TrainConfig(size=size).architecture
    assert (model.lstm.cell_dim, model.lstm.projection_dim, model.lstm.layers) == (cell, output, 2)
    assert (model.lstm.cell_clip, model.lstm.projection_clip, model.lstm.skip_connections) == (3.0, 3.0, True)
    assert (model.tokens.highways, model.tokens.filter_count, model.tokens.embedding_dim) == (highways, 2048, 16)
    assert model.tokens.activation == "relu"


def test_the_recipe_of_the_english_model_is_read():
    config = TrainConfig.read(Path(__file__).parents[2] / "recipes" / "english" / "english.toml")
    assert (config.size, config.steps, config.optimizer.kind) == ("medium", 98_000, "muon")


def test_a_toml_file_is_read_with_its_tables(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text('size = "tiny"\nclip = 1\n[loss]\nkind = "full"\n', encoding="utf-8")
    assert TrainConfig.read(path) == TrainConfig(size="tiny", clip=1.0, loss=FullConfig())


def test_a_json_file_is_read(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(TrainConfig(seed=9).to_dict()), encoding="utf-8")
    assert TrainConfig.read(path) == TrainConfig(seed=9)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("dropuot = 0.1", "unknown key 'dropuot'"),
        ("dropout = 'much'", "config.toml.dropout"),
        ("[optimizer]\nkind = 'sgd'", "optimizer.kind"),
        ("[schedule]\nwarm = 1", "unknown key 'warm'"),
        ("seed 5", "is not TOML"),
    ],
)
def test_mistakes_in_a_file_are_named_with_their_place(tmp_path, text, place):
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"config\.toml") as caught:
        TrainConfig.read(path)
    assert place in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere\.toml"):
        TrainConfig.read(tmp_path / "nowhere.toml")


def test_an_unknown_recipe_names_the_known_ones():
    with pytest.raises(ConfigError, match="modern, paper, softmax"):
        TrainConfig.recipe("grandmother")


@pytest.mark.parametrize(
    "wrong",
    [
        {"batch_size": 0},
        {"window": 0},
        {"epochs": 0.0},
        {"steps": 0},
        {"dropout": 1.0},
        {"reset": 1.5},
        {"clip": 0.0},
        {"accumulate": 0},
        {"keep": 0},
        {"patience": 0},
        {"checkpoint_minutes": -1.0},
        {"seed": -1},
    ],
)
def test_impossible_values_are_refused_by_name(wrong):
    (name,) = wrong
    with pytest.raises(ConfigError, match=name):
        TrainConfig(**wrong)


def test_size_and_model_exclude_each_other():
    model = model_of_size("tiny")
    with pytest.raises(ConfigError, match="keep one"):
        TrainConfig(size="small", model=model)
    assert TrainConfig(size="small").replace(model=model).architecture == model
    assert TrainConfig(model=model).replace(size="small").architecture == model_of_size("small")


def test_an_architecture_can_be_spelled_out_in_a_file(tmp_path):
    model = model_of_size("tiny").to_dict()
    model["lstm"]["bidirectional"] = False
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"model": model}), encoding="utf-8")
    assert TrainConfig.read(path).architecture == BiLMConfig.from_dict(model)

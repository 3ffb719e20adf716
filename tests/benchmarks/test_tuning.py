"""The search for a recipe of fine-tuning: its tables, its choice, and a part of it on a few sentences."""

from pathlib import Path

import pytest
import torch
from benchmarks.tuning import units
from benchmarks.tuning.recipes import RECIPES
from benchmarks.tuning.table import best_ways, make_tables
from benchmarks.tuning.texts import TEXTS, TaskText, beginning
from benchmarks.tuning.units import UNTUNED, Part, model_place, try_recipe
from tests.tiny import make_bilm

from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import Vocabulary
from elmo.weights.formats import read_model, write_model
from elmo.weights.loaded import LoadedModel, Softmax

SAMPLES = Path(__file__).parents[1] / "tasks" / "samples"
RECIPE = "adam 3e-4 x1"


def result(text: str, recipe: str, **losses: float) -> dict:
    shares = {
        share.replace("half", "0.5").replace("whole", "1"): {
            "heldout": 50.0, "train": 40.0, "score": 100 - loss, "dev_loss": loss
        }
        for share, loss in losses.items()
    }  # fmt: skip
    return {"text": text, "recipe": recipe, "shares": shares}


def test_the_best_recipe_is_the_one_whose_classifiers_lose_least_over_all_tasks() -> None:
    results = [
        result("a", UNTUNED, whole=10.0),
        result("b", UNTUNED, whole=1.0),
        result("a", "one", half=9.0, whole=5.0),
        result("b", "one", half=0.9, whole=2.0),  # far better on a, but twice as bad on b
        result("a", "two", half=9.5, whole=11.0),
        result("b", "two", half=0.95, whole=1.1),
        result("a", "three", half=1.0, whole=1.0),  # not yet tried on b
    ]
    assert best_ways(results, (0.5, 1.0), most=2) == [("one", 0.5), ("two", 0.5)]
    assert best_ways([], (0.5, 1.0), most=2) == []


def test_tables_have_every_recipe_and_the_gain_over_the_untuned_one() -> None:
    runs = [
        {"text": "a", "recipe": recipe, "share": 1.0, "metric": "f1", "dev": {"f1": score}}
        for recipe, score in ((UNTUNED, 90.0), (UNTUNED, 91.0), ("one", 92.0))
    ]
    made = make_tables([result("a", UNTUNED, whole=1.0), result("a", "one", whole=0.9)], runs, command="x")
    assert "| one | 1 | 50.0 (40.0) |" in made
    assert "| one | 1 | 99.10 (0.9000) |" in made
    assert "| a | one | 1 | 1 | 92.00 |  | +1.50 |" in made
    assert "| a | untuned | 1 | 2 | 90.50 | 0.71 |  |" in made


def test_a_beginning_has_whole_lines_and_as_many_words_as_asked_for() -> None:
    assert beginning(["a b", "c d", "e"], 3) == ["a b", "c d"]
    assert beginning(["a b"], 3) == ["a b"]
    assert beginning(["a b"], None) == ["a b"]


def test_a_recipe_on_a_text_gains_and_leaves_the_average_that_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("the", "of", "in", ".", ",")
    size = make_bilm().config.lstm.output_dim
    softmax = Softmax(torch.randn(8, size, generator=torch.Generator().manual_seed(1)) * 0.1, torch.zeros(8))
    vocabulary = Vocabulary(("<S>", "</S>", "<UNK>", *words))
    write_model(
        LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer(), softmax=softmax, vocabulary=vocabulary), tmp_path / "bilm"
    )
    train, dev = tmp_path / "train.txt", tmp_path / "dev.txt"
    block = "Anna B-PER\nlives O\nin O\nOslo B-LOC\n. O\n"
    train.write_text("".join(f"x{n} O\n{block}\n" for n in range(200)))
    dev.write_text(f"{block}\n")
    monkeypatch.setitem(TEXTS, "sample", TaskText(task="ner", train="train.txt", dev="dev.txt"))
    monkeypatch.setattr(units, "PERPLEXITY_SYMBOLS", 500)
    part = Part("sample", RECIPE, str(tmp_path), str(tmp_path / "bilm"), str(tmp_path / "out"), "cpu", tiny=False)
    untuned = try_recipe(part._replace(recipe=UNTUNED))
    found = try_recipe(part._replace(keep=(0.5,)))
    assert set(found["shares"]) == {"0.25", "0.5", "0.75", "1"}
    falling = [untuned["shares"]["1"]["heldout"], *(found["shares"][s]["heldout"] for s in ("0.25", "0.5", "1"))]
    assert falling == sorted(falling, reverse=True)
    assert found["steps"] > 0
    assert 0 <= found["shares"]["1"]["score"] <= 100
    assert read_model(model_place(part, 0.5)).sha256 != read_model(tmp_path / "bilm").sha256
    assert RECIPES[RECIPE].rows is None

"""Every card that is written begins with the lines that the Hub reads, whichever door the model came in by."""

from pathlib import Path

import pytest
from tests.tiny import make_bilm

import elmo
from elmo.text.tokenizer import Tokenizer
from elmo.weights.card import front_matter, name_base
from elmo.weights.formats import read_model, write_model
from elmo.weights.loaded import LoadedModel
from elmo.weights.transformersfolder import write_transformers

GOLDEN = Path(__file__).parent.parent / "golden"
BEGIN = "---\nlanguage: en\nlibrary_name: elmo\npipeline_tag: feature-extraction\n"


def in_memory() -> LoadedModel:
    return LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer())


def native(model: LoadedModel, folder: Path) -> None:
    write_model(model, folder)


def transformers(model: LoadedModel, folder: Path) -> None:
    write_transformers(model, folder)


def module(model: LoadedModel, folder: Path) -> None:
    elmo.Elmo(model).save_pretrained(folder)


@pytest.mark.parametrize("write", [native, transformers, module])
@pytest.mark.parametrize("source", [None, "bilm/skip2"])
def test_a_card_begins_with_the_lines_of_the_hub(write, source: str | None, tmp_path: Path) -> None:
    model = in_memory() if source is None else read_model(GOLDEN / source, tokenizer=Tokenizer())
    write(model, tmp_path / "model")
    card = (tmp_path / "model" / "README.md").read_text("utf-8")
    assert card.startswith(BEGIN)
    write_model(read_model(tmp_path / "model"), tmp_path / "again")
    assert (tmp_path / "again" / "README.md").read_text("utf-8") == card


def test_a_model_of_no_language_names_none() -> None:
    assert front_matter(None).startswith("---\nlibrary_name: elmo\n")
    assert front_matter("pt-BR").startswith("---\nlanguage: pt\nlibrary_name: elmo\n")


def test_a_model_that_began_as_one_of_the_hub_names_it() -> None:
    card = name_base(front_matter("en"), "hf:me/tiny@0123abc")
    assert "library_name: elmo\nbase_model: me/tiny\n" in card
    assert name_base(card, "hf:me/other") == card
    assert name_base(front_matter("en"), "english") == front_matter("en")

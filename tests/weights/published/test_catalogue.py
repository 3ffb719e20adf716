"""The list of models that have a name."""

import zipfile
from pathlib import Path

import pytest

from elmo.weights.native import read_config
from elmo.weights.published.addresses import published_names
from elmo.weights.published.catalogue import find_models, known_models
from elmo.weights.published.languages import LANGUAGES, language_name
from elmo.weights.published.packaged import DEFAULT, packaged_directory


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def names(wanted: str) -> list[str]:
    return [model.name for model in find_models(wanted)]


def test_every_name_that_can_be_loaded_is_listed_once() -> None:
    listed = [model.name for model in known_models()]
    assert listed == [DEFAULT, *published_names()]
    assert len(listed) == len(set(listed)) == 53
    assert {model.language for model in known_models()} <= {None, *LANGUAGES}


def test_a_language_is_found_by_its_name_a_part_of_it_or_its_code() -> None:
    assert names("german") == names("German") == ["german", "manylangs-de"]
    assert names("de") == ["german", "manylangs-de"]
    assert names("pt") == ["pt", "manylangs-pt"]
    assert names("norw") == ["manylangs-nb", "manylangs-nn"]
    assert names("protein") == ["seqvec"]
    assert names("klingon") == []
    assert language_name("de-AT") == "German"


def test_what_is_on_this_machine_is_told_with_its_size(cache: Path) -> None:
    assert [model.name for model in known_models() if model.path is not None] == [DEFAULT]
    (cache / "manylangs-de").mkdir(parents=True)
    (cache / "small").mkdir()
    (cache / "small" / "elmo_2x1024_128_2048cnn_1xhighway_options.json").write_text("{}", encoding="utf-8")
    (cache / "nlpl-218").mkdir()
    with zipfile.ZipFile(cache / "nlpl-218" / "218.zip", "w") as archive:
        archive.writestr("meta.json", "{}")
    there = {model.name: model for model in known_models() if model.path is not None}
    assert list(there) == [DEFAULT, "nlpl-218"]  # the other two are begun, not there
    assert there["nlpl-218"].bytes == (cache / "nlpl-218" / "218.zip").stat().st_size


def test_the_packaged_model_is_described_as_its_card_does() -> None:
    (model, *_) = known_models()
    card = (packaged_directory() / "README.md").read_text("utf-8")
    assert f"{model.parameters:,} without the softmax" in card
    assert "CC BY-SA 4.0" in card
    assert model.licence == "CC-BY-SA-4.0"
    assert model.language == read_config(packaged_directory())["tokenizer"]["language"]


def test_nothing_is_claimed_of_what_nobody_has_published() -> None:
    known = {model.name for model in known_models() if model.parameters is not None}
    assert known == {DEFAULT, "small", "medium", "original", "original-5.5b", "pubmed"}

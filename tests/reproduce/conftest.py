"""A tiny model, and data sets small enough to make every run in seconds."""

from pathlib import Path

import pytest
from tests.tiny import make_bilm

from elmo.reproduce.settings import AnyData, read_settings
from elmo.text.tokenizer import Tokenizer
from elmo.weights.formats import write_model
from elmo.weights.loaded import LoadedModel

SAMPLES = Path(__file__).parent.parent / "tasks" / "samples"
SETTINGS = """
[names]
title = "names"
task = "ner"
train = "ner-train.txt"
dev = "ner-dev.txt"
test = "ner-dev.txt"
metric = "f1"
paper = "ner"
seeds = 2
set = ["train.epochs=1", "task.model.hidden=6", "embedding.words.dim=6", "embedding.characters=none"]
grid = ["train.learning_rate=0.000001,0.01"]
fractions = [0.5]
minutes = 0.1

[tags]
title = "tags"
task = "probe"
train = "pos-train.conllu"
dev = "pos-dev.conllu"
test = "pos-dev.conllu"
epochs = 1

[wsd]
title = "senses"
task = "senses"
train = "senses-train.data.xml"
index = "index.sense"
tests = ["senses-test.data.xml"]
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_model(LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer()), tmp_path / "bilm")
    return tmp_path / "bilm"


@pytest.fixture
def settings_file(tmp_path: Path) -> Path:
    (tmp_path / "sets.toml").write_text(SETTINGS, encoding="utf-8")
    return tmp_path / "sets.toml"


@pytest.fixture
def settings(settings_file: Path) -> dict[str, AnyData]:
    return read_settings(settings_file)

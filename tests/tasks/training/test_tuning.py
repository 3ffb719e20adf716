"""A biLM tuned on the sentences of a task: once for all runs, never worse, kept with the task model, resumed."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.tasks.conftest import SAMPLES_OF_TASKS, small_recipe
from tests.tiny import make_bilm

from elmo.corpus.store import CorpusStore
from elmo.errors import ConfigError, InputError, WeightsError
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.step.optimizers import AdamConfig
from elmo.tasks.examples import Example, Text
from elmo.tasks.training import tuning
from elmo.tasks.training.directory import load_trained_task
from elmo.tasks.training.trainer import train_task
from elmo.tasks.training.tuning import TunedBiLM, tune_bilm
from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import Vocabulary
from elmo.weights.formats import read_model, write_model
from elmo.weights.loaded import LoadedModel, Softmax

SAMPLE = SAMPLES_OF_TASKS["ner"]
WORDS = ("Anna", "lives", "in", "Oslo", "works", "Lisbon", "Peter", ".", "and", "the")
QUICK = TrainConfig(
    batch_size=2, window=10, steps=40, evaluate_every=10, dropout=0.0, optimizer=AdamConfig(learning_rate=0.01)
)


@pytest.fixture
def bilm(tmp_path: Path) -> LoadedModel:
    """A tiny one with a softmax, on disk."""
    generator = torch.Generator().manual_seed(1)
    size = make_bilm().config.lstm.output_dim
    vocabulary = Vocabulary(("<S>", "</S>", "<UNK>", *WORDS))
    softmax = Softmax(torch.randn(len(vocabulary), size, generator=generator) * 0.1, torch.zeros(len(vocabulary)))
    model = LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer(), softmax=softmax, vocabulary=vocabulary)
    write_model(model, tmp_path / "bilm")
    return read_model(tmp_path / "bilm")


def examples(count: int = 60) -> list[Example]:
    people, places = ("Anna", "Peter"), ("Oslo", "Lisbon")
    return [
        Example((Text((people[n % 2], "lives", "in", places[n % 3 % 2], "and", "works", f"n{n}", ".")),))
        for n in range(count)
    ]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = TrainConfig.recipe
    monkeypatch.setattr(TrainConfig, "recipe", lambda name: QUICK if name == "finetune" else recipe(name))


def test_tuned_sentences_are_predicted_better_and_the_next_run_takes_the_same(
    bilm: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = bilm.sha256
    found = tune_bilm(bilm, examples(), tmp_path / "tuned", config=QUICK, device="cpu")
    assert isinstance(found, TunedBiLM)
    record = found.reference.tuning
    assert record is not None
    assert record.gained
    assert record.after < 0.9 * record.before
    assert (record.sentences, record.sha256_before) == (60, before)
    assert bilm.sha256 == before != found.model.sha256 == found.reference.sha256
    assert found.reference.source == str(tmp_path / "bilm")
    assert sorted(path.name for path in next((tmp_path / "tuned").glob("*/")).iterdir()) == ["model", "tuned.json"]
    monkeypatch.delattr(tuning, "finetune")
    again = tune_bilm(bilm, examples(), tmp_path / "tuned", config=QUICK, device="cpu")
    assert isinstance(again, TunedBiLM)
    assert again.reference == found.reference
    with pytest.raises(NameError):  # other sentences, another configuration: another biLM
        tune_bilm(bilm, examples(59), tmp_path / "tuned", config=QUICK, device="cpu")
    with pytest.raises(NameError):
        tune_bilm(bilm, examples(), tmp_path / "tuned", config=QUICK.replace(steps=41), device="cpu")


def test_labels_are_not_part_of_it_and_a_sentence_counts_once(bilm: LoadedModel, tmp_path: Path) -> None:
    one = tune_bilm(bilm, examples(), tmp_path / "tuned", config=QUICK, device="cpu")
    labelled = [replace(example, answer=n % 2) for n, example in enumerate([*examples(), *examples()])]
    other = tune_bilm(bilm, labelled, tmp_path / "tuned", config=QUICK, device="cpu")
    assert isinstance(one, TunedBiLM)
    assert isinstance(other, TunedBiLM)
    assert one.reference == other.reference


def test_where_nothing_is_gained_the_biLM_is_the_one_from_before(bilm: LoadedModel, tmp_path: Path) -> None:  # noqa: N802
    harmful = QUICK.replace(steps=2, evaluate_every=2, optimizer=AdamConfig(learning_rate=5.0))
    for _ in range(2):
        found = tune_bilm(bilm, examples(), tmp_path / "tuned", config=harmful, device="cpu")
        assert isinstance(found, TunedBiLM)
        assert found.model is bilm
        assert not found.reference.is_tuned
        assert found.reference.sha256 == bilm.sha256


def test_a_tuning_that_was_stopped_goes_on_to_the_same_biLM(bilm: LoadedModel, tmp_path: Path) -> None:  # noqa: N802
    assert tune_bilm(bilm, examples(), tmp_path / "cut", config=QUICK, device="cpu", time_limit=0) == "time limit"
    found = tune_bilm(bilm, examples(), tmp_path / "cut", config=QUICK, device="cpu")
    straight = tune_bilm(bilm, examples(), tmp_path / "straight", config=QUICK, device="cpu")
    assert isinstance(found, TunedBiLM)
    assert isinstance(straight, TunedBiLM)
    assert found.reference == straight.reference


def test_too_few_sentences_are_refused(bilm: LoadedModel, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="1 different sentences, but 20 are the fewest"):
        tune_bilm(bilm, examples(1) * 50, tmp_path / "tuned", device="cpu")
    assert not (tmp_path / "tuned").exists()


def test_words_that_the_model_never_saw_and_another_script_are_tuned_on(bilm: LoadedModel, tmp_path: Path) -> None:
    strange = [Example((Text(("Ψ" * (n % 7 + 1), "я" * (n % 5 + 1), "中 国", "\udcff")),)) for n in range(40)]
    found = tune_bilm(bilm, strange, tmp_path / "tuned", config=QUICK, device="cpu")
    assert isinstance(found, TunedBiLM)
    assert all(torch.isfinite(p).all() for p in found.model.bilm.parameters())


def train(bilm: LoadedModel, run: Path, **options: Any) -> Any:
    recipe = small_recipe(SAMPLE, train__epochs=2)
    task = recipe.make_task()
    dev = task.read(str(SAMPLE.dev))
    many = [
        replace(e, texts=(Text((*e.tokens[:-1], f"w{n}")),))
        for n in range(30)
        for e in task.read(str(SAMPLE.train))
        if len(e.tokens) > 1
    ]
    return train_task("ner", recipe, many, dev, run, model=bilm, device="cpu", **options), dev


@pytest.mark.usefixtures("quick")
def test_a_task_model_brings_its_tuned_biLM_and_remembers_the_tuning(bilm: LoadedModel, tmp_path: Path) -> None:  # noqa: N802
    result, dev = train(bilm, tmp_path / "run", tuned=tmp_path / "tuned")
    reference = result.trained.bilm_reference
    assert reference.is_tuned
    written = json.loads((tmp_path / "run" / "model" / "task.json").read_text("utf-8"))["bilm"]
    assert written["tuning"]["before"] > written["tuning"]["after"]
    assert read_model(tmp_path / "run" / "model" / "bilm").sha256 == reference.sha256 != bilm.sha256
    for path in (tmp_path / "bilm", next((tmp_path / "tuned").glob("*/model"))):
        path.rename(path.with_name("gone"))  # neither is needed any more
    again = load_trained_task(tmp_path / "run", device="cpu")
    assert again.bilm_reference == reference
    assert again.predict(dev) == result.trained.predict(dev)
    resumed, _ = train(read_model(tmp_path / "gone"), tmp_path / "other")
    assert resumed.trained.bilm_reference.tuning is None


@pytest.mark.usefixtures("quick")
def test_a_run_with_a_tuned_biLM_is_stopped_and_goes_on(bilm: LoadedModel, tmp_path: Path) -> None:  # noqa: N802
    stopped, _ = train(bilm, tmp_path / "run", tuned=tmp_path / "tuned", time_limit=0)
    assert (stopped.status, stopped.trained) == ("time limit", None)
    result, _ = train(bilm, tmp_path / "run", tuned=tmp_path / "tuned", resume=True)
    straight, _ = train(bilm, tmp_path / "straight", tuned=tmp_path / "tuned")
    again, _ = train(bilm, tmp_path / "run", tuned=tmp_path / "tuned", resume=True)
    assert result.trained.bilm_reference == straight.trained.bilm_reference == again.trained.bilm_reference
    assert result.scores == straight.scores


@pytest.mark.usefixtures("quick")
def test_a_damaged_biLM_beside_a_task_model_is_refused(bilm: LoadedModel, tmp_path: Path) -> None:  # noqa: N802
    train(bilm, tmp_path / "run", tuned=tmp_path / "tuned")
    write_model(LoadedModel(bilm=make_bilm(seed=3), tokenizer=Tokenizer()), tmp_path / "run/model/bilm", overwrite=True)
    with pytest.raises(WeightsError, match="has another hash"):
        load_trained_task(tmp_path / "run", device="cpu")


def test_a_baseline_has_no_biLM_to_tune(tmp_path: Path) -> None:  # noqa: N802
    recipe = small_recipe(SAMPLE, embedding__elmo__where="none")
    task = recipe.make_task()
    read = task.read(str(SAMPLE.train))
    with pytest.raises(ConfigError, match="no biLM to tune"):
        train_task("ner", recipe, read, read, tmp_path / "run", device="cpu", tuned=tmp_path / "tuned")


def test_held_out_sentences_are_not_trained_on(
    bilm: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores: list[CorpusStore] = []
    real = tuning.finetune

    def seen(model: LoadedModel, store: CorpusStore, *arguments: Any, **options: Any) -> Any:
        stores.append(store)
        return real(model, store, *arguments, **options)

    monkeypatch.setattr(tuning, "finetune", seen)
    tune_bilm(bilm, examples(200), tmp_path / "tuned", config=QUICK, device="cpu")
    train_words, heldout = (stores[0].counts[split].words for split in ("train", "heldout"))
    assert train_words + heldout == 8 * 200
    assert 0.02 < heldout / (train_words + heldout) < 0.15

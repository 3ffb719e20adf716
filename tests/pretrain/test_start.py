"""Runs that start from a trained model: what is taken over, what is refused, and that they resume exactly."""

import dataclasses
import json
import logging
from pathlib import Path

import pytest
import torch
from tests.pretrain.test_loop import Crash, crash, do_before, killed_and_resumed_equals_straight, record
from tests.stores import toy_sentences

from elmo.corpus.build import build_corpus
from elmo.corpus.store import CorpusStore
from elmo.errors import ConfigError, ResumeError
from elmo.lm.adaptive import AdaptiveConfig
from elmo.lm.perplexity import store_perplexity
from elmo.pretrain.checkpoint import list_checkpoints
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.pretraining import pretrain
from elmo.pretrain.softmax import train_softmax
from elmo.pretrain.start import begin_with, read_start
from elmo.pretrain.step.optimizers import AdamConfig
from elmo.run.metrics import read_metrics
from elmo.text.tokenizer import Tokenizer
from elmo.weights.formats import read_model, write_model
from elmo.weights.guarded.arrayfile import read_header
from elmo.weights.guarded.tensorfile import read_tensors
from elmo.weights.loaded import Training
from elmo.weights.published.packaged import packaged_directory
from elmo.weights.softmax import Softmax
from elmo.weights.softmaxfile import write_softmax
from elmo.weights.tensors import content_sha256

QUICK = {"batch_size": 4, "window": 5, "steps": 8, "evaluate_every": 4, "log_every": 2, "keep": 9}
CONFIG = TrainConfig(**QUICK, optimizer=AdamConfig(learning_rate=0.01))


@pytest.fixture(scope="module")
def trained(toy_store, tmp_path_factory):
    """The run that all others start from."""
    run = tmp_path_factory.mktemp("first")
    pretrain(toy_store, CONFIG.replace(size="tiny", steps=20), run, device="cpu", tensorboard=False)
    return run


def train(store, run, start_from, *, config=CONFIG, **options):
    return pretrain(store, config, run, start_from=start_from, device="cpu", tensorboard=False, **options)


def first_checkpoint(run):
    return read_model(list_checkpoints(run)[0].path)


def test_a_run_begins_with_the_weights_and_the_softmax_of_the_start(toy_store, trained, tmp_path):
    result = train(toy_store, tmp_path / "run", trained)
    start, first = read_model(trained), first_checkpoint(tmp_path / "run")
    assert first.sha256 == start.sha256
    assert torch.equal(first.softmax.weight, start.softmax.weight)
    assert torch.equal(first.softmax.bias, start.softmax.bias)
    assert result.status == "finished"
    assert read_model(result.model).sha256 != start.sha256


def test_the_perplexity_of_the_start_comes_first_and_is_that_of_the_model(toy_store, trained, tmp_path, caplog):
    with caplog.at_level(logging.INFO, logger="elmo.pretrain"):
        train(toy_store, tmp_path / "run", trained)
    before = store_perplexity(read_model(trained), CorpusStore.open(toy_store), state="carry", device="cpu")
    first = read_metrics(tmp_path / "run")[0]
    assert (first["kind"], first["step"]) == ("heldout", 0)
    assert first["average"] == pytest.approx(before.average, rel=1e-5)
    told = [message for message in caplog.messages if "perplexity" in message]
    assert told[0].startswith(f"held-out perplexity before the first step: {before.average:.2f}")


def test_the_warm_up_and_the_optimizer_are_new(toy_store, trained, tmp_path):
    train(toy_store, tmp_path / "run", trained, config=CONFIG.replace(log_every=1, steps=100, evaluate_every=100))
    rates = [line["rate"] for line in read_metrics(tmp_path / "run") if line["kind"] == "train"]
    assert rates[0] < rates[2]
    saved = list_checkpoints(tmp_path / "run")[0]
    assert saved.progress.step == 0
    file = saved.path / "training.safetensors"
    tensors = read_tensors(file, {name: info.shape for name, info in read_header(file).items()})
    assert not any(tensor.any() for name, tensor in tensors.items() if name.startswith("optimizer."))


def test_the_run_records_what_it_was_started_from(toy_store, trained, tmp_path):
    start = read_model(trained)
    assert start.training == Training(tokens=20 * 4 * 5)
    result = train(toy_store, tmp_path / "run", trained)
    saved = list_checkpoints(tmp_path / "run")[-1]
    assert (saved.start.sha256, saved.start.tokens) == (start.sha256, 400)
    assert saved.config.start_from == str((trained / "model").resolve())
    made = read_model(result.model)
    assert made.training.started_from == start.sha256
    best = json.loads((result.model / "config.json").read_text())["training"]["tokens"]
    assert best == made.training.tokens in (400, 480, 560)  # of the best evaluation: before, after 4 or 8 steps
    assert f"Started from {saved.start.model} (sha256 {start.sha256}), which has read 400 tokens" in made.card
    # And on from there: the counts add up.
    train(toy_store, tmp_path / "on", tmp_path / "run")
    assert list_checkpoints(tmp_path / "on")[-1].start.tokens == best


def test_the_architecture_is_taken_over_and_another_is_refused(toy_store, trained, tmp_path):
    train(toy_store, tmp_path / "same", trained, config=CONFIG.replace(size="tiny", steps=1))
    with pytest.raises(ConfigError, match=r"size is 'mini', but .*model has another architecture.*leave --size out"):
        train(toy_store, tmp_path / "run", trained, config=CONFIG.replace(size="mini"))
    with pytest.raises(ConfigError, match=r"loss.kind is 'adaptive', but .* has a plain softmax"):
        train(toy_store, tmp_path / "run", trained, config=CONFIG.replace(loss=AdaptiveConfig()))
    assert not (tmp_path / "run").exists()


def test_a_corpus_with_another_vocabulary_is_refused_with_the_command_that_makes_the_right_one(
    make_store, trained, tmp_path
):
    store = make_store(tmp_path / "store", toy_sentences(50), toy_sentences(5), vocabulary=20)
    words = trained / "model" / "vocab.txt"
    with pytest.raises(ConfigError, match=r"store: was built with another vocabulary \(20 words\)") as refused:
        train(store, tmp_path / "run", trained)
    assert f"elmo corpus build TEXT -o CORPUS --tokenized --vocabulary {words}" in str(refused.value)


def test_a_corpus_with_another_tokenizer_is_refused_and_tokens_have_none(toy_store, trained, tmp_path):
    model = dataclasses.replace(read_model(trained), tokenizer=Tokenizer(rule="treebank", language="en"))
    result = train(toy_store, tmp_path / "tokens", model, config=CONFIG.replace(steps=1))
    assert read_model(result.model).tokenizer == model.tokenizer  # the store's text came as tokens
    text = tmp_path / "text.txt"
    text.write_text("\n".join(" ".join(sentence) for sentence in toy_sentences(200)), encoding="utf-8")
    german = Tokenizer(rule="unicode", language="de")
    store = build_corpus([str(text)], tmp_path / "raw", tokenizer=german, vocabulary=trained / "model" / "vocab.txt")
    with pytest.raises(ConfigError, match=r"tokenizer 'unicode' of language de, but .*'treebank' of language en") as no:
        train(store, tmp_path / "run", model)
    assert "--rule treebank --language en" in str(no.value)


def test_a_model_without_a_softmax_is_refused_and_one_from_a_file_is_taken(toy_store, trained, tmp_path):
    bare = dataclasses.replace(read_model(trained), softmax=None)
    with pytest.raises(ConfigError, match=r"has no softmax.* --softmax-only .*--softmax SOFTMAX_RUN"):
        train(toy_store, tmp_path / "run", bare)
    config = TrainConfig(**{**QUICK, "steps": 2}, optimizer=AdamConfig(learning_rate=0.01))
    made = train_softmax(bare, toy_store, tmp_path / "softmax", config=config, device="cpu", tensorboard=False)
    result = train(toy_store, tmp_path / "run", bare, softmax=made.file, config=CONFIG.replace(steps=1))
    saved = list_checkpoints(tmp_path / "run")[0]
    assert first_checkpoint(tmp_path / "run").sha256 == bare.sha256
    assert saved.config.softmax == str(made.file)
    assert result.done
    with pytest.raises(ConfigError, match="no model to start from; give --start-from"):
        pretrain(toy_store, CONFIG, tmp_path / "other", softmax=made.file, device="cpu")
    with pytest.raises(ConfigError, match="there is no start_from"):
        TrainConfig(softmax="x.safetensors")


def test_an_adaptive_softmax_goes_on_as_one(toy_store, tmp_path):
    adaptive = CONFIG.replace(loss=AdaptiveConfig(), steps=2)
    first = pretrain(toy_store, adaptive.replace(size="tiny"), tmp_path / "first", device="cpu", tensorboard=False)
    result = train(toy_store, tmp_path / "run", first.model, config=adaptive)
    assert result.status == "finished"
    with pytest.raises(ConfigError, match="has an adaptive softmax; use 'adaptive'"):
        train(toy_store, tmp_path / "other", first.model)


def test_a_model_in_eight_bits_can_be_the_start(toy_store, trained, tmp_path):
    write_model(read_model(trained), tmp_path / "small", storage="int8")
    train(toy_store, tmp_path / "run", str(tmp_path / "small"))
    start, first = read_model(tmp_path / "small"), first_checkpoint(tmp_path / "run")
    assert first.sha256 == start.sha256 != read_model(trained).sha256
    assert torch.equal(first.softmax.weight, start.softmax.weight)


def test_the_packaged_model_can_be_the_start(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("The old sailor sees a red boat. My neighbour paints the long letter.\n" * 40, encoding="utf-8")
    words = packaged_directory() / "vocab.txt"
    store = build_corpus([str(text)], tmp_path / "store", vocabulary=words, workers=1)
    english = read_model("english")
    V, D = len(english.vocabulary), english.config.lstm.output_dim
    softmax = tmp_path / "softmax.safetensors"
    write_softmax(english.replace(softmax=Softmax(torch.zeros(V, D), torch.zeros(V))), softmax)
    recipe = TrainConfig.read(Path(__file__).parents[2] / "recipes" / "english" / "english.toml")
    start, model, config = begin_with(read_start("english", softmax), recipe, store, softmax=softmax)
    assert (start.model, start.sha256) == ("english", english.sha256)
    assert start.tokens == english.training.tokens == 98_000 * 1_024 * 20  # of the recipe
    assert (config.size, config.start_from, config.softmax) == ("medium", "english", str(softmax))
    assert all(p.requires_grad for p in model.parameters())
    assert content_sha256(model.bilm.state_dict()) == english.sha256


def test_the_start_is_the_result_where_training_gains_nothing(toy_store, trained, tmp_path, caplog):
    harmful = CONFIG.replace(steps=2, evaluate_every=2, optimizer=AdamConfig(learning_rate=5.0))
    result = train(toy_store, tmp_path / "run", trained, config=harmful)
    assert read_model(result.model).sha256 == read_model(trained).sha256
    assert "nothing was better than the start" in caplog.text


def test_the_given_model_stays_as_it_was(toy_store, trained, tmp_path):
    model = read_model(trained)
    weights = {name: tensor.clone() for name, tensor in model.bilm.state_dict().items()}
    train(toy_store, tmp_path / "run", model)
    assert all(torch.equal(tensor, weights[name]) for name, tensor in model.bilm.state_dict().items())


@pytest.mark.parametrize("step", [1, 6])
def test_a_run_that_was_cut_off_goes_on_bit_for_bit(toy_store, trained, tmp_path, monkeypatch, step):
    train(toy_store, tmp_path / "straight", trained)
    with monkeypatch.context() as patch:
        do_before(patch, step, crash)
        with pytest.raises(Crash):
            train(toy_store, tmp_path / "cut", trained)
    assert train(toy_store, tmp_path / "cut", trained, resume=True).status == "finished"
    assert record(tmp_path / "cut") == record(tmp_path / "straight")


def test_a_run_killed_with_sigkill_goes_on_bit_for_bit(toy_store, trained, tmp_path):
    options = {**QUICK, "steps": 20, "evaluate_every": 10, "start_from": str(trained)}
    killed_and_resumed_equals_straight(toy_store, tmp_path, **options)


def test_a_run_goes_on_without_its_start_but_not_with_another(toy_store, trained, tmp_path):
    train(toy_store, tmp_path / "run", trained, time_limit=0)
    other = pretrain(
        toy_store, CONFIG.replace(size="tiny", steps=1), tmp_path / "other", device="cpu", tensorboard=False
    )
    with pytest.raises(ResumeError, match=r"run: was started from another model .*leave --start-from"):
        train(toy_store, tmp_path / "run", other.model, resume=True)
    named = CONFIG.replace(start_from=str(other.model))
    with pytest.raises(ResumeError, match="another model"):
        pretrain(toy_store, named, tmp_path / "run", resume=True, device="cpu", tensorboard=False)
    changed = read_model(trained)
    changed = dataclasses.replace(changed, softmax=changed.softmax._replace(bias=changed.softmax.bias + 1))
    with pytest.raises(ResumeError, match="was started from another softmax"):
        train(toy_store, tmp_path / "run", changed, resume=True)
    with pytest.raises(ResumeError, match="other: was not started from a model"):
        train(toy_store, tmp_path / "other", trained, resume=True)
    result = pretrain(toy_store, None, tmp_path / "run", resume=True, device="cpu", tensorboard=False)
    assert result.status == "finished"
    assert list_checkpoints(tmp_path / "run")[-1].start.sha256 == read_model(trained).sha256


def test_a_configuration_file_can_name_the_start(toy_store, trained, tmp_path):
    file = tmp_path / "more.toml"
    file.write_text(f'start_from = "{trained}"\nsteps = 2\nbatch_size = 4\nwindow = 5\n', encoding="utf-8")
    pretrain(toy_store, TrainConfig.read(file), tmp_path / "run", device="cpu", tensorboard=False)
    assert list_checkpoints(tmp_path / "run")[-1].start.sha256 == read_model(trained).sha256

"""Whole runs: they learn, they can be cut off anywhere and go on bit for bit, and they get over bad numbers."""

import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from elmo.errors import ConfigError, ElmoError, ResumeError
from elmo.lm.adaptive import AdaptiveConfig
from elmo.lm.head import FullConfig, SampledConfig
from elmo.pretrain.checkpoint import list_checkpoints
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.pretraining import pretrain
from elmo.pretrain.step import step as step_module
from elmo.pretrain.step.guard import GuardConfig
from elmo.pretrain.step.optimizers import AdagradConfig, AdamConfig, OptimizerConfig
from elmo.pretrain.trainer import Trainer
from elmo.run.alone import alone_in
from elmo.run.metrics import read_metrics
from elmo.weights.formats import read_model

LOSSES = [SampledConfig(samples=8), FullConfig(), AdaptiveConfig()]
OPTIMIZERS = [config() for config in get_args(OptimizerConfig)]
QUICK = {"size": "tiny", "batch_size": 4, "window": 5, "steps": 8, "evaluate_every": 4, "log_every": 2, "keep": 9}


def config(**options):
    return TrainConfig(**{**QUICK, **options})


def train(store, run, *, resume=False, time_limit=None, model=None, **options):
    return pretrain(
        store,
        config(**options),
        run,
        resume=resume,
        device="cpu",
        time_limit=time_limit,
        model=model,
        tensorboard=False,
    )


class Crash(BaseException):
    """Stands for the end of the process."""


def do_before(monkeypatch, number, action):
    """Call `action` when the training comes to a step."""
    real = Trainer.step

    def watched(self, step, **options):
        if step == number:
            action()
        return real(self, step, **options)

    monkeypatch.setattr(Trainer, "step", watched)


def crash():
    raise Crash


def record(run):
    """All that a run has come to, times left out."""
    timed = ("seconds", "symbols_per_second")
    lines = [{key: value for key, value in line.items() if key not in timed} for line in read_metrics(run)]
    last = list_checkpoints(run)[-1].path
    files = [
        name for name in ("model.safetensors", "training.safetensors", "adaptive.safetensors") if (last / name).exists()
    ]
    return lines, last.name, {name: (last / name).read_bytes() for name in files}


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda c: c.kind)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda c: c.kind)
def test_a_run_that_was_cut_off_goes_on_bit_for_bit(toy_store, tmp_path, monkeypatch, loss, optimizer):
    options = {"loss": loss, "optimizer": optimizer}
    train(toy_store, tmp_path / "straight", **options)
    with monkeypatch.context() as patch:
        do_before(patch, 6, crash)  # after the checkpoint of step 4 and two steps that are lost
        with pytest.raises(Crash):
            train(toy_store, tmp_path / "cut", **options)
    result = train(toy_store, tmp_path / "cut", resume=True, **options)
    assert result.status == "finished"
    assert record(tmp_path / "cut") == record(tmp_path / "straight")


def run_process(store, run, **options):
    script = Path(__file__).with_name("training_process.py")
    source = Path(__file__).parents[2] / "src"
    return subprocess.run(
        [sys.executable, script, store, run, json.dumps(options)],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
    )


def killed_and_resumed_equals_straight(store, folder, **options):
    """The run that is killed has a process of its own; one that goes on takes nothing but its files."""
    chosen = TrainConfig.from_dict(options)
    assert pretrain(store, chosen, folder / "straight", device="cpu", tensorboard=False).done
    steps = options["steps"]
    killed = run_process(store, folder / "killed", kill_before=steps // 2 + 3, **options)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert list_checkpoints(folder / "killed")[-1].progress.step == steps // 2
    assert pretrain(store, chosen, folder / "killed", resume=True, device="cpu", tensorboard=False).done
    assert record(folder / "killed") == record(folder / "straight")


def test_a_run_killed_with_sigkill_goes_on_bit_for_bit(toy_store, tmp_path):
    options = {**QUICK, "steps": 20, "evaluate_every": 10}
    killed_and_resumed_equals_straight(toy_store, tmp_path, **options)


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", [config.kind for config in OPTIMIZERS])
@pytest.mark.parametrize("loss", ["sampled", "full", "adaptive"])
def test_two_hundred_steps_equal_a_hundred_and_sigkill_and_the_rest(toy_store, tmp_path, loss, optimizer):
    options = {**QUICK, "steps": 200, "evaluate_every": 100, "loss": {"kind": loss}, "optimizer": {"kind": optimizer}}
    killed_and_resumed_equals_straight(toy_store, tmp_path, **options)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_returns_and_the_run_goes_on(toy_store, tmp_path, monkeypatch, number):
    train(toy_store, tmp_path / "straight")
    handler = signal.getsignal(number)
    with monkeypatch.context() as patch:
        do_before(patch, 2, lambda: os.kill(os.getpid(), number))
        result = train(toy_store, tmp_path / "cut")
    assert (result.status, result.done, result.step) == ("interrupted", False, 3)
    assert signal.getsignal(number) is handler
    assert list_checkpoints(tmp_path / "cut")[-1].path == result.checkpoint
    assert train(toy_store, tmp_path / "cut", resume=True).done
    assert record(tmp_path / "cut")[1:] == record(tmp_path / "straight")[1:]


def test_a_chain_of_short_runs_equals_a_long_one(toy_store, tmp_path):
    train(toy_store, tmp_path / "straight", steps=4)
    statuses = []
    while not statuses or statuses[-1] != "finished":
        result = train(toy_store, tmp_path / "chain", steps=4, resume=True, time_limit=0)
        statuses.append(result.status)
    assert statuses == ["time limit"] * 3 + ["finished"]
    assert record(tmp_path / "chain")[1:] == record(tmp_path / "straight")[1:]


def test_a_finished_run_leaves_the_best_model_with_its_card_and_curves(toy_store, tmp_path):
    result = train(toy_store, tmp_path)
    model = read_model(result.model)
    assert model.is_settled
    assert len(model.vocabulary) == len(model.softmax.weight) == 24
    assert model.tokenizer.rule == "whitespace"
    assert f"| carry | {result.perplexity.forward:.2f} |" in model.card
    assert model.card.startswith("---\nlibrary_name: elmo\n")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert result.perplexity.unknown_rate == pytest.approx(result.perplexity.unknown / result.perplexity.words)


def test_the_sampled_loss_goes_by_its_name(toy_store, tmp_path):
    train(toy_store, tmp_path)
    lines = read_metrics(tmp_path)
    training = [line for line in lines if line["kind"] == "train"]
    assert [line["step"] for line in training] == [2, 4, 6, 8]
    assert all("sampled_loss" in line and not any("perplexity" in key for key in line) for line in training)
    assert [line["step"] for line in lines if line["kind"] == "heldout"] == [4, 8]


def test_a_lone_bad_step_is_skipped(toy_store, tmp_path, monkeypatch, caplog):
    spoil(monkeypatch, calls=[2])
    result = train(toy_store, tmp_path)
    saved = list_checkpoints(tmp_path)[-1]
    assert result.status == "finished"
    assert (saved.progress.skipped, saved.progress.rollbacks) == (1, 0)
    assert "step 2: loss or gradient is not finite; the update is skipped" in caplog.text


def spoil(monkeypatch, *, calls):
    """Make the losses of some calls NaN, counted from 0."""
    real, made = step_module.position_losses, []

    def spoiled(*arguments, **options):
        losses, state = real(*arguments, **options)
        made.append(None)
        return (losses * math.nan if len(made) - 1 in calls else losses), state

    monkeypatch.setattr(step_module, "position_losses", spoiled)


def test_bad_steps_in_a_row_go_back_to_the_last_good_state_with_a_lower_rate(toy_store, tmp_path, monkeypatch, caplog):
    spoil(monkeypatch, calls=[5, 6])
    result = train(toy_store, tmp_path, guard=GuardConfig(bad_steps=2, backoff=0.25))
    saved = list_checkpoints(tmp_path)[-1]
    assert result.status == "finished"
    assert (saved.progress.step, saved.progress.rollbacks, saved.progress.rate_factor) == (8, 1, 0.25)
    assert "back to step 4 with the learning rate times 0.25" in caplog.text
    rates = {line["step"]: line["rate"] for line in read_metrics(tmp_path) if line["kind"] == "train"}
    assert rates[6] < 0.3 * rates[4]


def test_a_run_that_diverges_again_and_again_gives_up_with_advice(toy_store, tmp_path, monkeypatch):
    spoil(monkeypatch, calls=range(5, 99))
    with pytest.raises(ElmoError, match=r"lower optimizer\.learning_rate"):
        train(toy_store, tmp_path, guard=GuardConfig(bad_steps=2, rollbacks=1))
    assert [checkpoint.progress.step for checkpoint in list_checkpoints(tmp_path)] == [0, 4]


def test_a_divergence_right_after_a_checkpoint_with_a_bad_step(toy_store, tmp_path, monkeypatch):
    options = {"guard": GuardConfig(bad_steps=2), "keep": 1, "evaluate_every": 2, "checkpoint_every": 2}
    spoil(monkeypatch, calls=[3, 4])  # the checkpoint of step 4 has seen one bad step, the next step makes it two
    came_by = iter([None, crash])  # the second time after the roll-back
    with monkeypatch.context() as patch:
        do_before(patch, 3, lambda: (next(came_by) or int)())
        with pytest.raises(Crash):
            train(toy_store, tmp_path, **options)
    newest = list_checkpoints(tmp_path)[-1].progress
    assert (newest.step, newest.rollbacks, newest.rate_factor) == (2, 1, 0.5)
    result = train(toy_store, tmp_path, resume=True, **options)
    newest = list_checkpoints(tmp_path)[-1].progress
    assert (result.status, newest.step, newest.rollbacks, newest.rate_factor) == ("finished", 8, 1, 0.5)


def test_a_worse_model_never_takes_the_place_of_the_best(toy_store, tmp_path, monkeypatch):
    worsen(monkeypatch)
    result = train(toy_store, tmp_path, evaluate_every=2, keep=1)
    assert [checkpoint.progress.step for checkpoint in list_checkpoints(tmp_path)] == [2, 8]
    best = list_checkpoints(tmp_path)[0].path
    ours, theirs = read_model(result.model), read_model(best)
    assert ours.sha256 == theirs.sha256


def worsen(monkeypatch):
    """Let each perplexity be worse than the one before."""
    real, made = Trainer.evaluate, []

    def evaluate(self, **options):
        made.append(None)
        found = real(self, **options)
        return type(found)(**{**vars(found), "average": 10.0 * len(made)})

    monkeypatch.setattr(Trainer, "evaluate", evaluate)


def test_a_run_ends_when_it_no_longer_improves(toy_store, tmp_path, monkeypatch):
    worsen(monkeypatch)
    result = train(toy_store, tmp_path, evaluate_every=1, patience=3)
    assert (result.status, result.done, result.step) == ("no longer improving", True, 4)
    assert train(toy_store, tmp_path, evaluate_every=1, patience=3, resume=True).step == 4


def test_a_directory_with_a_run_is_not_overwritten(toy_store, tmp_path):
    train(toy_store, tmp_path, steps=1)
    with pytest.raises(ResumeError, match="resume it"):
        train(toy_store, tmp_path, steps=1)


def test_a_run_resumes_only_on_its_own_corpus(toy_store, make_store, make_sentences, tmp_path):
    train(toy_store, tmp_path / "run", steps=1)
    other = make_store(tmp_path / "other", make_sentences(60, seed=9), make_sentences(5), vocabulary=24)
    with pytest.raises(ResumeError, match="another corpus"):
        train(other, tmp_path / "run", steps=1, resume=True)


@pytest.mark.parametrize(
    ("change", "name"), [({"window": 6}, "window"), ({"seed": 2}, "seed"), ({"optimizer": AdagradConfig()}, "kind")]
)
def test_a_run_resumes_only_as_itself(toy_store, tmp_path, change, name):
    train(toy_store, tmp_path, steps=1)
    with pytest.raises(ResumeError, match=name):
        train(toy_store, tmp_path, steps=1, resume=True, **change)


def test_a_run_with_another_loss_is_refused_with_the_first_difference_by_its_name(toy_store, tmp_path):
    train(toy_store, tmp_path / "run", steps=1, loss=SampledConfig(samples=8))
    with pytest.raises(ResumeError, match=r"run: loss\.samples was 8 and is 9 now") as caught:
        train(toy_store, tmp_path / "run", steps=1, resume=True, loss=SampledConfig(samples=9))
    assert "{" not in str(caught.value)


def test_a_finished_run_can_be_given_more_steps(toy_store, tmp_path):
    train(toy_store, tmp_path, steps=2)
    assert train(toy_store, tmp_path, steps=3, resume=True).step == 3


def test_resume_without_a_configuration_takes_the_saved_one(toy_store, tmp_path):
    train(toy_store, tmp_path, steps=3, time_limit=0)
    assert pretrain(toy_store, None, tmp_path, resume=True, device="cpu", tensorboard=False).step == 3


def test_a_store_without_held_out_text_trains_and_keeps_the_last_weights(make_store, make_sentences, tmp_path):
    store = make_store(tmp_path / "store", make_sentences(40), [])
    result = train(store, tmp_path / "run")
    assert result.perplexity is None
    assert read_model(result.model).sha256 == read_model(result.checkpoint).sha256


def test_a_model_of_one_direction_that_reads_words_trains(toy_store, tmp_path):
    model = {
        "tokens": {"kind": "words", "words": 24, "output_dim": 8},
        "lstm": {"input_dim": 8, "cell_dim": 8, "bidirectional": False},
    }
    options = TrainConfig.from_dict({**QUICK, "size": None, "model": model})
    result = pretrain(toy_store, options, tmp_path, device="cpu", tensorboard=False)
    assert result.perplexity.backward is None
    assert result.perplexity.forward == pytest.approx(result.perplexity.average)
    assert not read_model(result.model).config.lstm.bidirectional


def test_a_model_of_words_must_have_the_corpus_vocabulary(toy_store, tmp_path):
    model = {"tokens": {"kind": "words", "words": 99, "output_dim": 8}, "lstm": {"input_dim": 8, "cell_dim": 8}}
    options = TrainConfig.from_dict({**QUICK, "size": None, "model": model})
    with pytest.raises(ConfigError, match="the vocabulary has 24 words, but 99 are wanted"):
        pretrain(toy_store, options, tmp_path, device="cpu", tensorboard=False)


def test_bf16_is_refused_on_a_cpu(toy_store, tmp_path):
    with pytest.raises(ConfigError, match="bfloat16"):
        train(toy_store, tmp_path, precision="bfloat16")


@pytest.mark.parametrize("loss", LOSSES, ids=lambda c: c.kind)
def test_a_tiny_model_learns_a_toy_text_by_heart_in_both_directions(make_store, tmp_path, loss):
    text = [sentence.split() for sentence in ("the cat sat on a wide mat .", "my old dog ate some very fresh ham .")]
    store = make_store(tmp_path / "store", text * 60, text * 30, document=120)
    result = train(
        store,
        tmp_path / "run",
        loss=loss,
        order="document",
        steps=200,
        window=10,
        evaluate_every=200,
        log_every=100,
        dropout=0.0,
        optimizer=AdamConfig(learning_rate=0.01),
    )
    assert result.perplexity.forward < 1.1
    assert result.perplexity.backward < 1.1


def test_a_run_in_which_another_process_trains_is_left_alone(toy_store, tmp_path):
    run = tmp_path / "run"
    train(toy_store, run, steps=2, evaluate_every=2, checkpoint_every=1)
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*") if path.is_file()}
    with alone_in(run), pytest.raises(ResumeError, match="another process trains here"):
        train(toy_store, run, steps=4, resume=True)
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*") if path.is_file()} == before
    assert train(toy_store, run, steps=4, resume=True).step == 4


def test_a_run_that_could_not_begin_leaves_no_folder(toy_store, tmp_path):
    with pytest.raises(ConfigError):
        train(toy_store, tmp_path / "run", batch_size=10**9)
    assert not (tmp_path / "run").exists()

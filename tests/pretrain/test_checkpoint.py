"""Checkpoints: whole or absent whatever interrupts the writing, loadable as models, the best one kept."""

import json
import os
import shutil
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError

from elmo.errors import ElmoError, ResumeError
from elmo.lm.perplexity import Perplexity
from elmo.model.bilm import BiLM
from elmo.pretrain import checkpoint as module
from elmo.pretrain.checkpoint import (
    best_checkpoint,
    list_checkpoints,
    read_checkpoint,
    remove_old,
    roll_back,
    save_checkpoint,
)
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.progress import Evaluation, Progress
from elmo.pretrain.sizes import model_of_size
from elmo.pretrain.step.guard import Guard, GuardConfig
from elmo.text.tokenizer import Tokenizer
from elmo.weights.loaded import LoadedModel
from elmo.weights.native import read_native

SHAPES = {"state.h": (2, 3)}


def evaluation(step, average):
    perplexity = Perplexity(
        forward=average, backward=average, average=average, symbols=10, words=9, unknown=1, state="carry"
    )
    return Evaluation(step=step, perplexity=perplexity)


def save(run, step, *, average=None, guard=None, value=1.0):
    bilm = BiLM(model_of_size("tiny"))
    bilm.initialize(torch.Generator().manual_seed(step))
    bilm.settled_h.fill_(0.1)  # so that none is computed
    return save_checkpoint(
        run,
        LoadedModel(bilm=bilm, tokenizer=Tokenizer()),
        {"state.h": torch.full((2, 3), value)},
        config=TrainConfig(size="tiny"),
        progress=Progress(
            step=step, guard=guard or Guard(), evaluations=[] if average is None else [evaluation(step, average)]
        ),
        corpus="c0ffee",
    )


def steps_in(run):
    return [checkpoint.progress.step for checkpoint in list_checkpoints(run)]


def test_a_checkpoint_comes_back_as_it_was(tmp_path):
    saved = save(tmp_path, 7, average=12.5, value=0.25)
    found = read_checkpoint(saved.path)
    assert found == saved
    assert found.perplexity == 12.5
    assert found.tensors(SHAPES)["state.h"].tolist() == [[0.25] * 3] * 2


def test_a_checkpoint_is_a_loadable_model(tmp_path):
    path = save(tmp_path, 7).path
    assert read_native(path).config == model_of_size("tiny")


def test_a_perplexity_of_an_earlier_step_is_not_this_ones(tmp_path):
    saved = save(tmp_path, 7)
    saved.progress.evaluations.append(evaluation(5, 3.0))
    assert saved.perplexity is None


def test_steps_are_listed_in_order(tmp_path):
    for step in (100, 9, 20):
        save(tmp_path, step)
    assert steps_in(tmp_path) == [9, 20, 100]


def test_the_newest_and_the_best_are_kept(tmp_path):
    for step, average in ((1, 30.0), (2, 10.0), (3, 20.0), (4, 40.0), (5, 50.0)):
        save(tmp_path, step, average=average)
        remove_old(tmp_path, keep=2, guard=GuardConfig())
    assert steps_in(tmp_path) == [2, 4, 5]
    assert best_checkpoint(list_checkpoints(tmp_path)).progress.step == 2


def test_a_divergence_goes_back_past_what_was_on_its_way_to_it(tmp_path):
    calm, rising = Guard(steps=200, smoothed=4.0, lowest=4.0), Guard(steps=200, smoothed=5.5, lowest=4.0)
    save(tmp_path, 1, guard=calm, average=10.0)
    save(tmp_path, 2, guard=calm, average=11.0)
    save(tmp_path, 3, guard=rising, average=90.0)
    assert roll_back(tmp_path, GuardConfig(rise=2.0)).progress.step == 2
    assert steps_in(tmp_path) == [1, 2]


def test_the_newest_calm_one_is_kept(tmp_path):
    for step, bad in ((1, 0), (2, 0), (3, 1), (4, 2)):
        save(tmp_path, step, guard=Guard(bad_in_row=bad))
        remove_old(tmp_path, keep=1, guard=GuardConfig())
    assert steps_in(tmp_path) == [2, 4]


def test_the_best_makes_way_when_a_run_goes_back_before_it(tmp_path):
    save(tmp_path, 2, average=20.0)
    save(tmp_path, 4, average=10.0, guard=Guard(bad_in_row=1))
    save(tmp_path, 6, average=15.0, guard=Guard(bad_in_row=2))
    assert roll_back(tmp_path, GuardConfig()).progress.step == 2
    assert [c.path.name for c in list_checkpoints(tmp_path)] == ["step-00000002", "step-00000004-left-0"]


@pytest.mark.parametrize("name", ["training.json", "training.safetensors", "model.safetensors"])
def test_a_damaged_checkpoint_is_left_out_with_a_warning(tmp_path, caplog, name):
    save(tmp_path, 1)
    path = save(tmp_path, 2).path / name
    path.write_bytes(path.read_bytes()[:-20])
    assert steps_in(tmp_path) == [1]
    assert "step-00000002" in caplog.text


def test_a_format_of_the_future_is_refused(tmp_path):
    path = save(tmp_path, 1).path
    values = json.loads((path / "training.json").read_text(encoding="utf-8"))
    (path / "training.json").write_text(json.dumps({**values, "format": 99}), encoding="utf-8")
    with pytest.raises(ResumeError, match="99"):
        read_checkpoint(path)


class Interrupted(BaseException):
    """Stands for whatever ends the process."""


def interrupt_at(monkeypatch, count):
    """From the n-th call that touches the disk on none works, as after `kill -9`: nothing is cleaned up either."""
    calls = {"made": 0}

    def watched(function):
        def call(*arguments, **options):
            calls["made"] += 1
            if calls["made"] >= count:
                raise Interrupted
            return function(*arguments, **options)

        return call

    for target, name in (
        (os, "fsync"),
        (os, "rename"),
        (os, "replace"),
        (Path, "write_text"),
        (Path, "mkdir"),
        (Path, "unlink"),
        (module, "write_tensors"),
        (shutil, "rmtree"),
    ):
        monkeypatch.setattr(target, name, watched(getattr(target, name)))
    return calls


@pytest.mark.parametrize("same_step", [False, True])
def test_an_interruption_at_any_stage_of_writing_leaves_a_checkpoint_to_load(tmp_path, same_step):
    stage = 0
    while True:
        stage += 1
        run = tmp_path / str(stage)
        save(run, 1, value=1.0)
        with pytest.MonkeyPatch.context() as patch:
            calls = interrupt_at(patch, stage)
            try:
                save(run, 1 if same_step else 2, value=2.0)
                remove_old(run, keep=1, guard=GuardConfig())
            except Interrupted:
                pass
        found = list_checkpoints(run)
        assert found, f"nothing to load after an interruption at stage {stage}"
        value = found[-1].tensors(SHAPES)["state.h"][0, 0].item()
        assert value == (2.0 if found[-1].progress.step == 2 else value)
        assert value in (1.0, 2.0)
        read_native(found[-1].path)
        if calls["made"] < stage:
            break
        save(run, 3)
        remove_old(run, keep=1, guard=GuardConfig())
        assert steps_in(run) == [3]
        assert [path.name for path in (run / "checkpoints").iterdir()] == ["step-00000003"]
    assert stage > 8


def test_a_full_disk_is_named_and_keeps_the_checkpoint_before(tmp_path, monkeypatch):
    save(tmp_path, 1)

    def full(*_, **__):
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr("elmo.weights.guarded.tensorfile.save_file", full)
    with pytest.raises(ElmoError, match=r"step-00000002: cannot be written: No space left on device; make room"):
        save(tmp_path, 2)
    assert steps_in(tmp_path) == [1]

"""Several processes: the same losses as one, and checkpoints that do not care how many there were."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.distributed

from elmo.errors import ConfigError
from elmo.ops.device import choose_device
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.pretraining import pretrain
from elmo.run.distributed import World, join_world
from elmo.run.metrics import read_metrics

OPTIONS = {
    "size": "tiny",
    "batch_size": 4,
    "window": 5,
    "log_every": 1,
    "dropout": 0.0,
    "schedule": {"warmup": 0.0, "hold": 1.0, "final": 1.0},  # else more steps would change the rates of the first
}


def run_processes(world, store, run, **options):
    """Start the training as torchrun does: one process each, told by the environment who it is."""
    # The store is ours, as it is torchrun's: a port that was only found free could be taken by then.
    meeting_point = torch.distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    script = Path(__file__).with_name("training_process.py")
    common = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src"), "WORLD_SIZE": str(world)}
    common |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(meeting_point.port), "OMP_NUM_THREADS": "1"}
    common |= {"TORCHELASTIC_USE_AGENT_STORE": "True"}
    processes = [
        subprocess.Popen(
            [sys.executable, script, store, run, json.dumps({**OPTIONS, **options})],
            env={**common, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(world)
    ]
    answers = [process.communicate(timeout=800) for process in processes]
    assert [process.returncode for process in processes] == [0] * world, answers
    # And no thread of the group: one that runs on while the interpreter ends can abort the process.
    assert [out for out, _ in answers] == ["finished\n"] * world


def losses(run):
    return [line["sampled_loss"] for line in read_metrics(run) if line["kind"] == "train"]


def perplexities(run):
    return [line["average"] for line in read_metrics(run) if line["kind"] == "heldout"]


def train_here(store, run, **options):
    config = TrainConfig.from_dict({**OPTIONS, **options})
    return pretrain(store, config, run, resume=True, device="cpu", tensorboard=False)


# Muon gives directions without a gradient the same weight as others, so that rounding grows: to 2e-4 in 50 steps.
@pytest.mark.parametrize(("kind", "steps"), [("adam", 50), ("muon", 15)])
def test_two_processes_give_the_losses_of_one_and_one_takes_their_run_up(toy_store, tmp_path, kind, steps):
    options = {"optimizer": {"kind": kind}, "evaluate_every": steps}
    train_here(toy_store, tmp_path / "one", steps=steps + 3, **options)
    run_processes(2, toy_store, tmp_path / "two", steps=steps, **options)
    # The states of all rows are in the checkpoint, whoever held them.
    assert train_here(toy_store, tmp_path / "two", steps=steps + 3, **options).status == "finished"
    one, two = losses(tmp_path / "one"), losses(tmp_path / "two")
    assert len(one) == len(two) == steps + 3
    assert two == pytest.approx(one, rel=1e-4)
    assert perplexities(tmp_path / "two")[0] == pytest.approx(perplexities(tmp_path / "one")[0], rel=1e-3)


@pytest.mark.parametrize("optimizer", ["adam", "muon"])
def test_two_processes_take_up_the_run_of_one(toy_store, tmp_path, optimizer):
    chosen = {"optimizer": {"kind": optimizer}}
    train_here(toy_store, tmp_path / "one", steps=6, **chosen)
    train_here(toy_store, tmp_path / "two", steps=3, **chosen)
    run_processes(2, toy_store, tmp_path / "two", steps=6, resume=True, **chosen)
    assert losses(tmp_path / "two") == pytest.approx(losses(tmp_path / "one"), rel=1e-4)


def test_a_process_by_itself_is_a_world_of_one(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with join_world("cpu") as (world, device):
        assert (world, device.type) == (World(rank=0, size=1), "cpu")
        tensor = torch.arange(3.0)
        assert world.average_(tensor) is tensor
        assert world.gather_rows(tensor, dim=0) is tensor
        assert world.say("word") == "word"


def test_a_device_that_is_not_there_is_named():
    with pytest.raises(ConfigError, match="'abacus'"):
        choose_device("abacus")
    if not torch.cuda.is_available():
        with pytest.raises(ConfigError, match="no CUDA"):
            choose_device("cuda")

"""Training on CUDA: the losses of the CPU in fp32, near them in bf16, and a run that goes on after a crash."""

from typing import get_args

import pytest
import torch

from elmo.lm.adaptive import AdaptiveConfig
from elmo.lm.head import FullConfig, SampledConfig
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.pretraining import pretrain
from elmo.pretrain.step.optimizers import OptimizerConfig
from elmo.pretrain.trainer import Trainer
from elmo.run.metrics import read_metrics

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]

BASE = TrainConfig(
    size="tiny",
    batch_size=8,
    window=10,
    steps=30,
    evaluate_every=10,
    log_every=1,
    dropout=0.0,
    precision="float32",
    keep=9,
    reset=0.0,
)


def train(store, run, config, device, **options):
    result = pretrain(store, config, run, device=device, tensorboard=False, **options)
    lines = read_metrics(run)
    losses = [next(v for k, v in line.items() if k.endswith("_loss")) for line in lines if line["kind"] == "train"]
    return losses, result.perplexity


@pytest.mark.parametrize("optimizer", [config() for config in get_args(OptimizerConfig)], ids=lambda c: c.kind)
# Devices draw different negatives, so that all words are drawn where their losses are compared.
@pytest.mark.parametrize("loss", [SampledConfig(samples=10**6), FullConfig(), AdaptiveConfig()], ids=lambda c: c.kind)
def test_cuda_in_fp32_gives_the_losses_of_the_cpu(toy_store, tmp_path, loss, optimizer):
    config = BASE.replace(loss=loss, optimizer=optimizer)
    on_cpu, there = train(toy_store, tmp_path / "cpu", config, "cpu")
    on_cuda, here = train(toy_store, tmp_path / "cuda", config, "cuda")
    assert on_cuda == pytest.approx(on_cpu, rel=2e-3)
    assert here.average == pytest.approx(there.average, rel=5e-3)


def test_bf16_is_near_fp32(toy_store, tmp_path):
    fp32, there = train(toy_store, tmp_path / "fp32", BASE, "cuda")
    bf16, here = train(toy_store, tmp_path / "bf16", BASE.replace(precision="bfloat16"), "cuda")
    assert bf16 != fp32
    assert bf16 == pytest.approx(fp32, rel=0.02)
    assert here.average == pytest.approx(there.average, rel=0.03)


def test_dropout_and_accumulation_run_on_cuda(toy_store, tmp_path):
    losses, _ = train(toy_store, tmp_path, BASE.replace(dropout=0.3, accumulate=3, precision="auto"), "cuda")
    assert losses[-1] < losses[0]


class Crash(BaseException):
    """Stands for the end of the process."""


def test_a_run_cut_off_on_cuda_goes_on_with_the_same_curve(toy_store, tmp_path, monkeypatch):
    config = BASE.replace(precision="bfloat16", dropout=0.1)
    straight, _ = train(toy_store, tmp_path / "straight", config, "cuda")
    real = Trainer.step

    def crash(self, step, **options):
        if step == 24:
            raise Crash
        return real(self, step, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "step", crash)
        with pytest.raises(Crash):
            train(toy_store, tmp_path / "cut", config, "cuda")
    resumed, _ = train(toy_store, tmp_path / "cut", config, "cuda", resume=True)
    assert resumed == pytest.approx(straight, rel=5e-3)

"""What is left open is chosen by the text and the device, and what is given stays."""

import pytest

from elmo.lm.head import FullConfig, SampledConfig
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.defaults import SYMBOLS_OF_AN_HOUR, choose_epochs, choose_rows, complete_config, complete_tuning
from elmo.pretrain.sizes import model_of_size


@pytest.mark.parametrize(
    ("symbols", "rows"), [(90, 4), (2_000, 4), (100_000, 4), (1_000_000, 32), (84_000_000, 512), (10**10, 512)]
)
def test_rows_grow_with_the_corpus(symbols, rows):
    assert choose_rows(symbols, window=20, device="cuda") == rows


@pytest.mark.parametrize(("symbols", "rows"), [(90, 4), (100_000, 8), (1_000_000, 32), (84_000_000, 128)])
def test_a_cpu_has_rows_within_its_own_bounds(symbols, rows):
    assert choose_rows(symbols, window=20, device="cpu") == rows


def test_rows_can_be_divided_among_processes():
    assert choose_rows(1_000_000, window=20, device="cuda", world=3) % 3 == 0


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_small_text_is_read_fewer_times(device):
    epochs = [choose_epochs(symbols, device=device) for symbols in (100, 50_000, 300_000, 1_000_000)]
    assert epochs == sorted(epochs)
    assert epochs[0] == epochs[1] < epochs[2] < epochs[3]


def test_on_a_cpu_a_large_text_is_read_for_an_hour_and_at_least_once():
    assert choose_epochs(10_000_000, device="cuda") == 10
    assert choose_epochs(10_000_000, device="cpu") * 10_000_000 <= SYMBOLS_OF_AN_HOUR
    assert choose_epochs(10**9, device="cpu") == 1


def test_nothing_is_left_open():
    for device in ("cpu", "cuda"):
        made = complete_config(TrainConfig(), symbols=300_000, device=device)
        assert None not in (made.size, made.batch_size, made.epochs, made.evaluate_symbols, made.loss.samples)
        assert complete_config(made, symbols=10**9, device=device) == made


def test_a_cpu_trains_a_smaller_model_with_fewer_samples():
    cpu, gpu = (complete_config(TrainConfig(), symbols=10**6, device=device) for device in ("cpu", "cuda"))
    assert (cpu.size, gpu.size) == ("mini", "small")
    assert cpu.loss.samples < gpu.loss.samples


@pytest.mark.parametrize(
    "given",
    [
        {"size": "tiny"},
        {"model": model_of_size("tiny")},
        {"batch_size": 3},
        {"epochs": 2.5},
        {"steps": 7},
        {"loss": SampledConfig(samples=5)},
        {"loss": FullConfig()},
    ],
    ids=lambda given: next(iter(given)),
)
def test_what_is_given_stays(given):
    made = complete_config(TrainConfig(**given), symbols=10**6, device="cpu")
    assert {name: getattr(made, name) for name in given} == given
    assert made.size is None or made.model is None


@pytest.mark.parametrize(("symbols", "rows"), [(90, 1), (30_000, 8), (200_000, 64), (2_000_000, 128), (10**8, 128)])
def test_tuning_takes_few_steps_and_is_measured_four_times_a_pass(symbols, rows):
    made = complete_tuning(TrainConfig(), symbols=symbols)
    assert made.batch_size == rows
    assert made.evaluate_every == max(1, -(-(symbols // (rows * made.window)) // 4))
    assert complete_tuning(made, symbols=10**9) == made


def test_less_than_a_pass_of_tuning_is_measured_four_times_too():
    assert complete_tuning(TrainConfig(steps=100), symbols=10**8).evaluate_every == 25


def test_rows_of_tuning_can_be_divided_among_processes():
    assert complete_tuning(TrainConfig(), symbols=200_000, world=4).batch_size == 64
    assert complete_tuning(TrainConfig(), symbols=90, world=3).batch_size == 3

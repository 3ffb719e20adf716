"""The plan of a run in words, and a trial that leaves no trace."""

import logging

import pytest

from elmo.corpus.store import CorpusStore
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.forecast import describe_plan, duration
from elmo.pretrain.memory import estimate_memory
from elmo.pretrain.plan import make_plan
from elmo.pretrain.pretraining import pretrain
from elmo.weights.formats import read_model

QUICK = {"size": "tiny", "batch_size": 4, "window": 5, "steps": 6, "evaluate_every": 3, "dropout": 0.2}


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "1 s"), (59.6, "60 s"), (1500, "25 minutes"), (6000, "1.7 hours")],
)
def test_a_time_is_said_as_people_say_it(seconds, said):
    assert duration(seconds) == said


def lines_for(path, asked):
    store = CorpusStore.open(path)
    plan = make_plan(asked, symbols=len(store.train_symbols), vocabulary=len(store.vocabulary), device="cpu")
    memory = estimate_memory(
        plan, vocabulary=len(store.vocabulary), types=store.types, symbols=len(store.train_symbols)
    )
    return describe_plan(
        plan, asked, store, parameters=3_000_000, seconds=1800, memory=memory, free=10**10, device="2 CPU threads"
    )


def test_the_plan_names_size_steps_minutes_and_memory(toy_store):
    text = "\n".join(lines_for(toy_store, TrainConfig(size="tiny", steps=50, batch_size=4)))
    for part in ("tiny", "3.0 M parameters", "50 steps of 4 x 20", "30 minutes on 2 CPU threads", "of 10.0 GB free"):
        assert part in text
    assert "chosen" not in text


def test_the_plan_says_what_was_chosen_and_what_changes_it(toy_store):
    assert lines_for(toy_store, TrainConfig())[-1].endswith("changed by --size, --batch-size, --epochs")
    assert lines_for(toy_store, TrainConfig(size="tiny", steps=5))[-1].endswith("changed by --batch-size")


def test_a_run_that_tells_its_plan_learns_the_same(toy_store, tmp_path, caplog):
    pretrain(toy_store, TrainConfig(**QUICK), tmp_path / "silent", device="cpu", tensorboard=False)
    with caplog.at_level(logging.INFO, logger="elmo.pretrain"):
        pretrain(toy_store, TrainConfig(**QUICK), tmp_path / "telling", device="cpu", tensorboard=False)
    assert any(message.startswith("expected: ") for message in caplog.messages)
    assert sum("held-out perplexity" in message for message in caplog.messages) == 2
    silent, telling = (read_model(tmp_path / name) for name in ("silent", "telling"))
    assert silent.sha256 == telling.sha256


def test_a_resumed_run_tells_what_is_left(toy_store, tmp_path, caplog):
    config = TrainConfig(**QUICK)
    stopped = pretrain(toy_store, config, tmp_path, device="cpu", tensorboard=False, time_limit=0)
    assert not stopped.done
    with caplog.at_level(logging.INFO, logger="elmo.pretrain"):
        assert pretrain(toy_store, None, tmp_path, resume=True, device="cpu", tensorboard=False).done
    assert any(message.startswith("plan: 6 steps") for message in caplog.messages)


def test_resuming_a_finished_run_says_that_it_is_finished(toy_store, tmp_path, caplog):
    first = pretrain(toy_store, TrainConfig(**QUICK), tmp_path, device="cpu", tensorboard=False)
    with caplog.at_level(logging.INFO, logger="elmo.pretrain"):
        again = pretrain(toy_store, None, tmp_path, resume=True, device="cpu", tensorboard=False)
    assert (again.status, again.step, again.perplexity) == (first.status, first.step, first.perplexity)
    assert [message for message in caplog.messages if "step" in message] == [
        f"{tmp_path}: is finished already, at step 6; its model is measured and written again"
    ]


def test_no_time_is_left_at_the_last_step(toy_store, tmp_path, caplog):
    with caplog.at_level(logging.INFO, logger="elmo.pretrain"):
        pretrain(toy_store, TrainConfig(**QUICK), tmp_path, device="cpu", tensorboard=False)
    told = [message for message in caplog.messages if message.startswith("step ")]
    assert [message.endswith(" left") for message in told] == [True, False]

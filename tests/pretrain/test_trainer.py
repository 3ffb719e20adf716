"""The trainer: states are reset at beginnings of sentences only, and everything random follows from seed and step."""

import pytest
import torch

import elmo.pretrain.trainer as trainer_module
from elmo.corpus.store import CorpusStore
from elmo.lm.head import SampledConfig
from elmo.model.state import State
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.models import new_model
from elmo.pretrain.plan import make_plan
from elmo.pretrain.trainer import Trainer, frequency_ranks
from elmo.run.distributed import World
from elmo.run.randomness import generator_for
from elmo.text.vocabulary import Vocabulary


@pytest.fixture
def make_trainer(toy_store):
    store = CorpusStore.open(toy_store)

    def make(rank=0, world=1, **options):
        config = TrainConfig(**{"size": "tiny", "batch_size": 8, "window": 4, **options})
        plan = make_plan(config, symbols=len(store.train_symbols), vocabulary=len(store.vocabulary), world=world)
        model = new_model(config, vocabulary=len(store.vocabulary))
        return Trainer(store, plan, model=model, world=World(rank=rank, size=world), device=torch.device("cpu"))

    return make


class SeenError(Exception):
    """Carries what a step was called with."""


@pytest.fixture
def look(monkeypatch):
    """What `train_step` is given at a step, without running it: state and samples."""

    def catch(*arguments, samples, **_):
        raise SeenError(arguments[5], samples)

    monkeypatch.setattr(trainer_module, "train_step", catch)

    def ask(trainer, step):
        trainer.state = State(torch.ones_like(trainer.state.h), torch.ones_like(trainer.state.c))
        with pytest.raises(SeenError) as caught:
            trainer.step(step)
        return caught.value.args

    return ask


@pytest.fixture
def reset_rows(look):
    """Which rows [R, B] a step sets to zero, and which of them begin with a sentence."""

    def find(trainer, step):
        state, _ = look(trainer, step)
        rows = (state.c == 0).all(-1).all(0)
        for tensor in state:  # [L, R, B, .]: a row is reset in all layers or in none
            assert ((tensor == 0).all(-1) == rows).all()
            assert ((tensor == 1).all(-1) == ~rows).all()
        return rows, trainer.source.symbols(step)[:, 0] == 0

    return find


def test_every_beginning_of_a_sentence_is_a_reset_when_told_so(make_trainer, reset_rows):
    trainer = make_trainer(reset=1.0)
    found = [reset_rows(trainer, step) for step in range(8)]
    assert all(torch.equal(rows, starts) for rows, starts in found)
    assert any(rows.any() for rows, _ in found)


def test_a_share_of_the_beginnings_is_reset_otherwise(make_trainer, reset_rows):
    trainer = make_trainer(reset=0.5)
    found = [reset_rows(trainer, step) for step in range(60)]
    assert all(not (rows & ~starts).any() for rows, starts in found)
    share = sum(int(rows.sum()) for rows, _ in found) / sum(int(starts.sum()) for _, starts in found)
    assert 0.3 < share < 0.7


def test_no_state_is_reset_in_the_papers_recipe(make_trainer, reset_rows):
    trainer = make_trainer(reset=TrainConfig.recipe("paper").reset)
    assert not any(reset_rows(trainer, step)[0].any() for step in range(20))


def test_processes_reset_the_rows_that_one_would(make_trainer, reset_rows):
    whole = make_trainer(reset=0.5)
    halves = [make_trainer(reset=0.5, rank=rank, world=2) for rank in range(2)]
    for step in range(6):
        together = torch.cat([reset_rows(half, step)[0] for half in halves], dim=1)
        assert torch.equal(together, reset_rows(whole, step)[0])


def test_negatives_depend_on_seed_and_step_alone(make_trainer, look):
    few = {"loss": SampledConfig(samples=6)}

    def draw(step, **options):
        return tuple(sorted(look(make_trainer(**few, **options), step)[1].ids.tolist()))

    assert draw(5) == draw(5, rank=1, world=2)
    assert len({draw(5, seed=1), draw(6, seed=1), draw(5, seed=2)}) == 3


def test_negatives_are_drawn_by_frequency_in_the_text_at_hand(toy_store, look):
    store = CorpusStore.open(toy_store)
    assert frequency_ranks(store) is None  # its words stand in that order
    words = store.vocabulary.words
    frequent = words[3:]
    other = store.with_vocabulary(Vocabulary((*words[:3], "unseen", *reversed(frequent))))
    ranks = frequency_ranks(other)
    assert ranks is not None
    assert ranks[:3].tolist() == [0, 1, 2]
    counted = {store.spelling(n): int(count) for n, count in enumerate(store.type_counts)}
    in_order = [counted.get(other.vocabulary.words[n], 0) for n in ranks.argsort()[3:].tolist()]
    assert in_order == sorted(in_order, reverse=True)
    assert int(ranks[3]) == len(ranks) - 1
    config = TrainConfig(size="tiny", batch_size=8, window=4, loss=SampledConfig(samples=5))
    plan = make_plan(config, symbols=len(other.train_symbols), vocabulary=len(other.vocabulary))
    model = new_model(config, vocabulary=len(other.vocabulary))
    trainer = Trainer(other, plan, model=model, world=World(), device=torch.device("cpu"))
    _, samples = look(trainer, 3)
    assert torch.equal(samples.ranks, ranks)


def test_generators_of_different_purposes_differ():
    first = {
        purpose: torch.rand(1, generator=generator_for(purpose, seed=1, step=2)).item()
        for purpose in ("weights", "negatives", "dropout", "reset")
    }
    assert len(set(first.values())) == 4
    again = torch.rand(1, generator=generator_for("reset", seed=1, step=2)).item()
    assert again == first["reset"]

"""The training step: no direction sees its target, parts add up to the whole, bad numbers leave no trace."""

import math

import pytest
import torch

from elmo.lm.head import SoftmaxHead
from elmo.lm.languagemodel import LanguageModel
from elmo.lm.typetable import TypeTable
from elmo.model.bilm import BiLM
from elmo.model.state import State
from elmo.ops.softmax import Samples
from elmo.pretrain.sizes import model_of_size
from elmo.pretrain.step.gradients import Gradients
from elmo.pretrain.step.optimizers import AdagradConfig, make_optimizer
from elmo.pretrain.step.step import StepOptions, make_dropout, position_losses, train_step
from elmo.run.distributed import World

V = TYPES = 12
T, B = 6, 4


def model():
    generator = torch.Generator().manual_seed(0)
    config = model_of_size("tiny")
    made = LanguageModel(BiLM(config), SoftmaxHead(vocabulary=V, size=config.lstm.output_dim))
    made.bilm.initialize(generator)
    made.head.initialize(generator)
    return made


def table():
    generator = torch.Generator().manual_seed(1)
    return TypeTable(torch.randint(1, 257, (TYPES + 1, 50), generator=generator), torch.arange(TYPES).clamp(min=2))


def window(rows=B):
    """The same text for both directions, in reading order."""
    text = torch.randint(1, TYPES, (T, rows), generator=torch.Generator().manual_seed(2))
    text[2] = 0
    both = torch.stack([text, text.flip(0)])
    return torch.cat([torch.zeros(2, 1, rows, dtype=torch.long), both], dim=1)  # [R, T + 1, B]


def losses_of(made, symbols, **options):
    return position_losses(made, table(), symbols, made.bilm.zero_state(symbols.shape[2]), samples=None, **options)


@pytest.mark.parametrize("direction", [0, 1])
def test_no_direction_sees_its_target_or_what_comes_after(direction):
    made = model()
    symbols = window()
    before, _ = losses_of(made, symbols)
    changed = 3  # in reading order, so that "after" means what the direction has not read yet
    others = symbols.clone()
    others[direction, changed + 1] = torch.where(symbols[direction, changed + 1] == 5, 6, 5)
    after, _ = losses_of(made, others)
    assert torch.equal(after[direction, :changed], before[direction, :changed])
    assert (after[direction, changed + 1 :] != before[direction, changed + 1 :]).all()
    assert torch.equal(after[1 - direction], before[1 - direction])


def test_the_loss_at_a_position_depends_on_its_target_only_through_the_target():
    made = model()
    symbols = window()
    hidden = []

    def remember(hidden_now, wanted, _):
        hidden.append(hidden_now.view(2, T, B, -1))
        return torch.zeros(len(wanted))

    made.head.training_losses = remember
    losses_of(made, symbols)
    for position in range(T):
        others = symbols.clone()
        others[:, position + 1] = (symbols[:, position + 1] + 1) % TYPES
        losses_of(made, others)
        assert torch.equal(hidden[-1][:, : position + 1], hidden[0][:, : position + 1])


def test_separators_are_the_boundary_tokens_of_each_direction():
    symbols = torch.tensor([[[0, 3]], [[0, 3]]])
    assert table().input_symbols(symbols).tolist() == [[[0, 3]], [[TYPES, 3]]]
    assert table().target_ids(symbols).tolist() == [[[1, 3]], [[0, 3]]]
    assert table().input_symbols(symbols[:1]).tolist() == [[[0, 3]]]
    assert table().target_ids(symbols[:1]).tolist() == [[[1, 3]]]


def do_step(made, symbols, state, *, samples=None, **options):
    trained = dict(made.named_parameters())
    gradients = Gradients(trained.values())
    result = train_step(
        made,
        make_optimizer(trained, AdagradConfig()),
        gradients,
        table(),
        symbols,
        state,
        learning_rate=0.2,
        samples=samples,
        dropout_generator=torch.Generator().manual_seed(3),
        options=StepOptions(**{"dropout": 0.0, "clip": None, "loss_scale": 1.0, **options}),
        world=World(),
    )
    return result, gradients


def test_step_reports_the_mean_loss_of_each_direction_and_the_next_state():
    made = model()
    symbols = window()
    expected, after = losses_of(made, symbols)
    result, _ = do_step(made, symbols, made.bilm.zero_state(B))
    torch.testing.assert_close(result.losses, expected.detach().mean((1, 2)))
    torch.testing.assert_close(result.state.h, after.h.detach())
    assert not result.state.h.requires_grad


def test_accumulated_parts_equal_the_whole():
    symbols = window()
    outcomes = []
    for parts in (1, 3, 99):
        made = model()
        result, gradients = do_step(made, symbols, made.bilm.zero_state(B), accumulate=parts)
        outcomes.append((result, torch.cat([g.flatten() for g in gradients.tensors])))
    for result, flat in outcomes[1:]:
        torch.testing.assert_close(flat, outcomes[0][1], rtol=1e-4, atol=1e-6)
        torch.testing.assert_close(result.losses, outcomes[0][0].losses)
        torch.testing.assert_close(result.state.c, outcomes[0][0].state.c)


def test_sampling_every_class_equals_the_full_softmax_in_a_step():
    symbols = window()
    flats = []
    for samples in (None, Samples(torch.arange(V), math.inf, V)):
        made = model()
        _, gradients = do_step(made, symbols, made.bilm.zero_state(B), samples=samples)
        flats.append(torch.cat([g.flatten() for g in gradients.tensors]))
    torch.testing.assert_close(flats[0], flats[1], rtol=1e-4, atol=1e-6)


def test_loss_scale_multiplies_gradients_before_the_clip():
    symbols = window()
    norms, moved = [], []
    for scale in (1.0, 20.0):
        made = model()
        before = [p.detach().clone() for p in made.parameters()]
        result, _ = do_step(made, symbols, made.bilm.zero_state(B), loss_scale=scale, clip=0.01)
        norms.append(float(result.norm))
        moved.append(
            torch.cat([(p.detach() - old).flatten() for p, old in zip(made.parameters(), before, strict=True)])
        )
    assert norms[1] == pytest.approx(20 * norms[0], rel=1e-4)
    # Adagrad's first step from an accumulator of 1 is the rate times the gradient, nearly.
    assert float(moved[0].norm()) == pytest.approx(0.2 * 0.01, rel=1e-2)
    torch.testing.assert_close(moved[0], moved[1], rtol=1e-2, atol=1e-7)


def test_a_step_that_is_not_finite_changes_neither_weights_nor_state():
    made = model()
    symbols = window()
    state = made.bilm.zero_state(B)
    state = State(state.h, torch.full_like(state.c, math.nan))
    before = [p.detach().clone() for p in made.parameters()]
    result, _ = do_step(made, symbols, state)
    assert bool(result.bad)
    assert all(torch.equal(p, old) for p, old in zip(made.parameters(), before, strict=True))
    assert torch.equal(result.state.h, state.h)


def test_dropout_is_on_each_layers_input_and_on_the_output():
    made = model()
    symbols = window()
    seen = []

    def count(x):
        seen.append(tuple(x.shape))
        return x

    losses_of(made, symbols, dropout=count)
    assert seen == [(2, T, B, made.bilm.config.lstm.output_dim)] * 3


def test_dropout_keeps_the_mean_and_follows_its_generator():
    x = torch.ones(200, 200)
    dropped = make_dropout(0.25, torch.Generator().manual_seed(1))(x)
    assert dropped.unique().tolist() == pytest.approx([0.0, 4 / 3])
    assert float(dropped.mean()) == pytest.approx(1.0, abs=0.02)
    again = make_dropout(0.25, torch.Generator().manual_seed(1))(x)
    assert torch.equal(dropped, again)
    assert make_dropout(0.0, torch.Generator()) is None

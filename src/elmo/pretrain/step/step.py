"""One training step as a function of values: batch and state in, losses and state out. No files, no clock, no printing.

R directions, T steps of the window, B rows, D token vector, P output, U distinct symbols.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from elmo.lm.languagemodel import LanguageModel
from elmo.lm.typetable import TypeTable
from elmo.model.bilm import BiLM
from elmo.model.state import State
from elmo.ops.softmax import Samples
from elmo.pretrain.data.distinct import Distinct, distinct_symbols
from elmo.pretrain.step.gradients import Gradients, clip_factor
from elmo.pretrain.step.optimizers import Optimizer
from elmo.run.distributed import World

Dropout = Callable[[Tensor], Tensor]


@dataclass(frozen=True, kw_only=True)
class StepOptions:
    """The rules of a step, the same for the whole run."""

    dropout: float
    clip: float | None
    loss_scale: float  # the mean loss is multiplied by this before gradients are taken
    accumulate: int = 1
    bf16: bool = False


class StepResult(NamedTuple):
    """What a step tells; tensors stay on the device until someone reads them."""

    losses: Tensor  # [R], mean over positions of all processes
    norm: Tensor  # of the gradients before the clip
    bad: Tensor  # 1 where the update was skipped because something was not finite
    state: State


def train_step(
    model: LanguageModel,
    optimizer: Optimizer,
    gradients: Gradients,
    table: TypeTable,
    symbols: Tensor,
    state: State,
    *,
    learning_rate: float | Tensor,
    samples: Samples | None,
    dropout_generator: torch.Generator,
    options: StepOptions,
    world: World,
    distinct: Distinct = distinct_symbols,
) -> StepResult:
    """symbols: [R, T + 1, B] of this process's rows. Changes the model and the optimizer."""
    gradients.forget()
    dropout = make_dropout(options.dropout, dropout_generator)
    R, steps, B = symbols.shape
    positions = (steps - 1) * B  # of each direction
    rows = torch.arange(B).tensor_split(min(options.accumulate, B))
    sums, states = torch.zeros(R, device=symbols.device), []
    for part in rows:
        own = slice(int(part[0]), int(part[-1]) + 1)
        # No weight is used twice, so that autocast has nothing to remember; and in a CUDA graph it must not.
        with torch.autocast(symbols.device.type, torch.bfloat16, enabled=options.bf16, cache_enabled=False):
            losses, after = position_losses(
                model,
                table,
                symbols[:, :, own],
                state.rows(own),
                samples=samples,
                dropout=dropout,
                distinct=distinct,
            )
        # The mean over positions and directions. [bilm-tf training.py, _build_loss]
        (losses.sum() * (options.loss_scale / (R * positions))).backward()
        sums += losses.detach().sum((1, 2))
        states.append(State(after.h.detach(), after.c.detach()))
    gradients.average(world)
    means = world.average_(sums / positions)
    norm = gradients.norm()
    bad = ~(torch.isfinite(norm) & torch.isfinite(means).all())
    optimizer.update(learning_rate, bad, None if options.clip is None else clip_factor(norm, options.clip))
    after = State(torch.cat([s.h for s in states], 2), torch.cat([s.c for s in states], 2))
    # A step that was skipped leaves no trace in the state either.
    kept = State(torch.where(bad, state.h, after.h), torch.where(bad, state.c, after.c))
    return StepResult(means, norm, bad, kept)


def position_losses(
    model: LanguageModel,
    table: TypeTable,
    symbols: Tensor,
    state: State,
    *,
    samples: Samples | None,
    dropout: Dropout | None = None,
    distinct: Distinct = distinct_symbols,
) -> tuple[Tensor, State]:
    """symbols: [R, T + 1, B] -> the training loss of each position [R, T, B] and the state after.

    Here symbols become what is read and what is to be predicted: all but the last, and all but the first.
    """
    inputs, targets = table.input_symbols(symbols[:, :-1]), table.target_ids(symbols[:, 1:])
    hidden, after = hidden_of_symbols(model.bilm, table.rows, inputs, state, dropout=dropout, distinct=distinct)
    losses = model.head.training_losses(hidden.reshape(targets.numel(), -1), targets.reshape(-1), samples)
    return losses.view(targets.shape), after


def hidden_of_symbols(
    bilm: BiLM,
    table: Tensor,
    symbols: Tensor,
    state: State,
    *,
    dropout: Dropout | None = None,
    distinct: Distinct = distinct_symbols,
) -> tuple[Tensor, State]:
    """Symbols as they are read [R, T, B], their rows [Y, C] -> what the softmax reads [R, T, B, P], the state after."""
    found, inverse = distinct(symbols)  # [U], [R, T, B]
    vectors = bilm.tokens(table[found])  # [U, D]
    outputs, after = bilm.lstm(F.embedding(inverse, vectors), state, dropout=dropout)
    top: Tensor = outputs[-1]
    # Dropout is on the top output too. [bilm-tf training.py, _build]
    return (top if dropout is None else dropout(top)), after


def kept_rows(
    first: Tensor, *, separator: int, probability: float, batch: int, rows: slice, generator: torch.Generator
) -> Tensor:
    """The first inputs [R, B] of a step -> 1 where a row keeps its state and 0 where it is reset: [R, B, 1].

    At the start of a sentence a row may begin from zero, as it will when the model is used: with `probability`, and
    only where its first input is the separator. Numbers are drawn for all `batch` rows, whoever has them, so that the
    number of processes changes nothing.
    """
    chance = torch.rand(len(first), batch, generator=generator, device=generator.device)[:, rows]
    reset = (first == separator) & (chance < probability)
    return (~reset).float()[:, :, None]


def make_dropout(probability: float, generator: torch.Generator) -> Dropout | None:
    """A function that zeroes some of the numbers and scales up the rest."""
    if probability == 0:
        return None

    def dropout(x: Tensor) -> Tensor:
        mask = torch.empty_like(x).bernoulli_(1 - probability, generator=generator)
        return x * mask.div_(1 - probability)

    return dropout

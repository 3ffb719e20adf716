"""One training step as a function of values: batch and state in, losses and state out. No files, no clock, no printing.

R directions, T steps of the window, B rows, D token vector, P output, U distinct types.
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
from elmo.model.bilstm import State
from elmo.ops.softmax import Samples
from elmo.pretrain.data.distinct import Distinct, distinct_rows
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
    inputs: Tensor,
    targets: Tensor,
    state: State,
    *,
    rate: float | Tensor,
    samples: Samples | None,
    dropout_generator: torch.Generator,
    options: StepOptions,
    world: World,
    distinct: Distinct = distinct_rows,
) -> StepResult:
    """inputs, targets: type ids [R, T, B] of this process's rows. Changes the model and the optimizer."""
    gradients.forget()
    dropout = make_dropout(options.dropout, dropout_generator)
    parts = min(options.accumulate, inputs.shape[2])
    rows = torch.arange(inputs.shape[2]).tensor_split(parts)
    sums, states = torch.zeros(len(inputs), device=inputs.device), []
    for part in rows:
        own = slice(int(part[0]), int(part[-1]) + 1)
        # No weight is used twice, so that autocast has nothing to remember; and in a CUDA graph it must not.
        with torch.autocast(inputs.device.type, torch.bfloat16, enabled=options.bf16, cache_enabled=False):
            losses, after = position_losses(
                model,
                table,
                inputs[:, :, own],
                targets[:, :, own],
                state.rows(own),
                samples=samples,
                dropout=dropout,
                distinct=distinct,
            )
        # The mean over positions and directions. [bilm-tf training.py, _build_loss]
        (losses.sum() * (options.loss_scale / inputs.numel())).backward()
        sums += losses.detach().sum((1, 2))
        states.append(State(after.h.detach(), after.c.detach()))
    gradients.average(world)
    means = world.average_(sums / inputs[0].numel())
    norm = gradients.norm()
    bad = ~(torch.isfinite(norm) & torch.isfinite(means).all())
    optimizer.update(rate, bad, None if options.clip is None else clip_factor(norm, options.clip))
    after = State(torch.cat([s.h for s in states], 2), torch.cat([s.c for s in states], 2))
    # A step that was skipped leaves no trace in the state either.
    kept = State(torch.where(bad, state.h, after.h), torch.where(bad, state.c, after.c))
    return StepResult(means, norm, bad, kept)


def position_losses(
    model: LanguageModel,
    table: TypeTable,
    inputs: Tensor,
    targets: Tensor,
    state: State,
    *,
    samples: Samples | None,
    dropout: Dropout | None = None,
    distinct: Distinct = distinct_rows,
) -> tuple[Tensor, State]:
    """inputs, targets: type ids [R, T, B] -> the training loss of each position [R, T, B] and the state after."""
    hidden, after = hidden_of_rows(
        model.bilm, table.rows, table.input_rows(inputs), state, dropout=dropout, distinct=distinct
    )
    wanted = table.target_ids(targets).reshape(-1)
    losses = model.head.training_losses(hidden.reshape(len(wanted), -1), wanted, samples)
    return losses.view(targets.shape), after


def hidden_of_rows(
    bilm: BiLM,
    table: Tensor,
    rows: Tensor,
    state: State,
    *,
    dropout: Dropout | None = None,
    distinct: Distinct = distinct_rows,
) -> tuple[Tensor, State]:
    """Numbers of rows [R, T, B] of a table [Y, C] -> what the softmax reads [R, T, B, P], and the state after."""
    found, inverse = distinct(rows)  # [U], [R, T, B]
    vectors = bilm.tokens(table[found])  # [U, D]
    outputs, after = bilm.lstm(F.embedding(inverse, vectors), state, dropout=dropout)
    top: Tensor = outputs[-1]
    # Dropout is on the top output too. [bilm-tf training.py, _build]
    return (top if dropout is None else dropout(top)), after


def make_dropout(share: float, generator: torch.Generator) -> Dropout | None:
    """A function that zeroes a share of the numbers and scales up the rest."""
    if share == 0:
        return None

    def dropout(x: Tensor) -> Tensor:
        mask = torch.empty_like(x).bernoulli_(1 - share, generator=generator)
        return x * mask.div_(1 - share)

    return dropout

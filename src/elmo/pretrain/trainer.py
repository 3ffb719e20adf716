"""The trainer: model, optimizer, data and states of one process, put together; `step` advances them by one batch."""

import math
from functools import partial

import numpy as np
import torch
from torch import Tensor

from elmo.corpus.layout import SEPARATOR
from elmo.corpus.store import CorpusStore
from elmo.lm.languagemodel import LanguageModel
from elmo.lm.perplexity import Perplexity, measure_perplexity
from elmo.lm.typetable import make_type_table
from elmo.model.choices import StateMode
from elmo.model.state import State
from elmo.ops.device import uses_bf16
from elmo.ops.softmax import draw_log_uniform
from elmo.pretrain.checkpoint import Checkpoint
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.data.distinct import Distinct, distinct_symbols, distinct_symbols_within
from elmo.pretrain.data.source import make_source
from elmo.pretrain.data.streams import Streams, rows_of_rank
from elmo.pretrain.models import restore_weights
from elmo.pretrain.plan import Plan
from elmo.pretrain.step.gradients import Gradients
from elmo.pretrain.step.graph import CapturedStep
from elmo.pretrain.step.optimizers import make_optimizer
from elmo.pretrain.step.step import StepOptions, StepResult, kept_rows, train_step
from elmo.run.distributed import World
from elmo.run.randomness import Generators
from elmo.run.schedule import learning_rate_fraction
from elmo.text.vocabulary import SPECIALS

# Places for distinct rows come in units of this size.
CAPACITY_UNIT = 256


class Trainer:
    """One process's share of a run. Parameters that need no gradient are left as they are."""

    def __init__(
        self,
        store: CorpusStore,
        plan: Plan,
        *,
        model: LanguageModel,
        world: World,
        device: torch.device,
    ) -> None:
        config = plan.config
        self.store, self.config, self.plan, self.world, self.device = store, config, plan, world, device
        self.model = model.to(device)
        table = make_type_table(store.type_bytes, store.type_lengths, store.type_targets, model.bilm.config)
        self.table = table.to(device)
        ranks = frequency_ranks(store)
        self.ranks = None if ranks is None else ranks.to(device)
        trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
        self.gradients = Gradients(trained.values())
        bf16 = uses_bf16(config.precision, device, option="precision")
        self.optimizer = make_optimizer(trained, config.optimizer, bf16=bf16)
        self.rows = rows_of_rank(plan.batch_size, rank=world.rank, world=world.size)
        self.streams = Streams(
            store.train_symbols,
            store.train_sentences,
            store.train_documents,
            seed=config.seed,
            batch=plan.batch_size,
            window=config.window,
            order=config.order,
            directions=model.bilm.config.lstm.directions,
        )
        self.state = model.bilm.zero_state(self.rows.stop - self.rows.start)
        self.options = StepOptions(
            dropout=config.dropout,
            clip=config.clip,
            loss_scale=float(config.window) if config.loss_sum == "window" else 1.0,
            accumulate=config.accumulate,
            bf16=bf16,
        )
        self.source = make_source(self.streams, self.rows, device)
        self.generators = Generators.on(device)
        self.capacity, self.captured = 0, None
        if can_be_captured(config, world, device):
            self.capacity = math.ceil(self.source.most_distinct() / CAPACITY_UNIT) * CAPACITY_UNIT
            places = distinct_symbols_within(self.capacity, symbol_count=len(self.table.rows))
            body = partial(self._run, distinct=places)
            self.captured = CapturedStep(body, state=self.state, generators=self.generators)

    def step(self, step: int, *, rate_factor: float = 1.0) -> StepResult:
        """Train on the batch of a step. The answer's tensors stay on the device."""
        symbols = self.source.symbols(step)
        learning_rate = self.learning_rate(step) * rate_factor
        self.generators.seed(seed=self.config.seed, step=step, rank=self.world.rank)
        if self.captured is None:
            result = self._run(symbols.to(self.device), self.state, learning_rate, distinct=distinct_symbols)
        else:
            if self.state.h is not self.captured.state.h:
                self.captured.set_state(self.state)
            overfull = self.source.distinct(step) > self.capacity
            body = partial(self._run, distinct=distinct_symbols) if overfull else None
            result = self.captured(symbols, learning_rate=learning_rate, body=body)
        self.state = result.state
        return result

    def _run(self, symbols: Tensor, state: State, learning_rate: float | Tensor, *, distinct: Distinct) -> StepResult:
        """A step on symbols of the device [R, T + 1, B]; everything random is drawn here."""
        samples = None
        if self.plan.samples is not None:
            samples = draw_log_uniform(
                self.plan.samples,
                len(self.store.vocabulary),
                generator=self.generators.negatives,
                ranks=self.ranks,
            )
        if self.config.reset > 0:
            kept = kept_rows(
                symbols[:, 0],
                separator=SEPARATOR,
                probability=self.config.reset,
                batch=self.plan.batch_size,
                rows=self.rows,
                generator=self.generators.reset,
            )
            state = State(state.h * kept.to(state.h.dtype), state.c * kept)
        return train_step(
            self.model,
            self.optimizer,
            self.gradients,
            self.table,
            symbols,
            state,
            learning_rate=learning_rate,
            samples=samples,
            dropout_generator=self.generators.dropout,
            options=self.options,
            world=self.world,
            distinct=distinct,
        )

    def learning_rate(self, step: int) -> float:
        """The learning rate of a step."""
        return self.plan.learning_rate * learning_rate_fraction(step, self.plan.steps, self.config.schedule)

    def evaluate(
        self, *, state: StateMode = "carry", symbol_count: int | None = None, start: State | None = None
    ) -> Perplexity:
        """The held-out perplexity; see `measure_perplexity`."""
        return measure_perplexity(
            self.model,
            self.table,
            self.store.heldout_symbols,
            self.store.heldout_sentences,
            state=state,
            symbol_count=symbol_count,
            start=start,
        )

    def tensors(self) -> dict[str, Tensor]:
        """All that training needs besides the model, rows of all processes together. Every process must call it."""
        state = {
            "state.h": self.world.gather_rows(self.state.h, dim=2).float(),
            "state.c": self.world.gather_rows(self.state.c, dim=2).float(),
        }
        return {**state, **self._optimizer_tensors()}

    @torch.no_grad()
    def load(self, checkpoint: Checkpoint | None) -> None:
        """Go back to a checkpoint. Only the first process reads it; the others have None and are told."""
        config = self.model.bilm.config.lstm
        shape = (config.layers, config.directions, self.plan.batch_size)
        h, c = (torch.zeros(*shape, size, device=self.device) for size in (config.output_dim, config.cell_dim))
        own = self._optimizer_tensors()
        if checkpoint is not None:
            restore_weights(self.model, checkpoint.path)
            ours = {"state.h": h, "state.c": c, **own}
            tensors = checkpoint.tensors({name: tuple(tensor.shape) for name, tensor in ours.items()})
            for name, tensor in ours.items():
                tensor.copy_(tensors[name])
        self.world.take_from_first_([h, c, *self.model.state_dict().values(), *own.values()])
        dtype = self.state.h.dtype
        self.state = State(h[:, :, self.rows].to(dtype), c[:, :, self.rows].clone())

    def _optimizer_tensors(self) -> dict[str, Tensor]:
        return {f"optimizer.{name}": tensor for name, tensor in self.optimizer.tensors().items()}


def frequency_ranks(store: CorpusStore) -> Tensor | None:
    """The rank of each word of the vocabulary by its frequency in the training text [V]; None where that is its place.

    The words of a trained model stand by their frequency in another text, and a domain's new words behind them all:
    drawn by their places, a domain's words would hardly ever be among the negatives, and grow too likely in between.
    """
    counts = np.bincount(store.type_targets[1:], weights=store.type_counts[1:], minlength=len(store.vocabulary))
    own = -counts[len(SPECIALS) :]
    if (np.diff(own) >= 0).all():
        return None
    order = np.concatenate([np.arange(len(SPECIALS)), len(SPECIALS) + np.argsort(own, kind="stable")])
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return torch.from_numpy(ranks)


def can_be_captured(config: TrainConfig, world: World, device: torch.device) -> bool:
    """Whether the step can be one CUDA graph: one process, all rows at once, a loss whose shapes are fixed."""
    return device.type == "cuda" and world.size == 1 and config.accumulate == 1 and config.loss.kind == "sampled"

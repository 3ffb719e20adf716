"""The trainer: model, optimizer, data and states of one process, put together; `step` advances them by one batch."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from elmo.errors import ConfigError, ResumeError
from elmo.model.bilm import BiLM
from elmo.model.bilstm import State
from elmo.model.wordtable import WordTableConfig
from elmo.ops.softmax import Samples, draw_log_uniform, race_threshold
from elmo.pretrain.adaptive import FILE as ADAPTIVE_FILE
from elmo.pretrain.adaptive import AdaptiveHead, read_adaptive, write_adaptive
from elmo.pretrain.captured import CapturedStep
from elmo.pretrain.checkpoint import Checkpoint
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.corpus.store import CorpusStore
from elmo.pretrain.distinct import Distinct, distinct_rows, distinct_rows_within
from elmo.pretrain.distributed import World
from elmo.pretrain.gradients import Gradients
from elmo.pretrain.head import SoftmaxHead, make_head
from elmo.pretrain.languagemodel import LanguageModel
from elmo.pretrain.optimizers import make_optimizer
from elmo.pretrain.perplexity import Perplexity, StateMode, measure_perplexity
from elmo.pretrain.plan import Plan
from elmo.pretrain.prefetch import Prefetch
from elmo.pretrain.randomness import generator_for, seed_for
from elmo.pretrain.schedule import rate_share
from elmo.pretrain.step import StepOptions, StepResult, train_step
from elmo.pretrain.streams import SEPARATOR, Streams, rows_of_rank
from elmo.pretrain.typetable import make_type_table
from elmo.weights.loaded import LoadedModel, Softmax
from elmo.weights.native import read_native


class Trainer:
    """One process's share of a run. Parameters that need no gradient are left as they are."""

    def __init__(
        self,
        store: CorpusStore,
        config: TrainConfig,
        plan: Plan,
        *,
        model: LanguageModel,
        world: World,
        device: torch.device,
    ) -> None:
        self.store, self.config, self.plan, self.world, self.device = store, config, plan, world, device
        self.model = model.to(device)
        table = make_type_table(store.type_bytes, store.type_lengths, store.type_targets, model.bilm.config)
        self.table = table.to(device)
        trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
        self.gradients = Gradients(trained.values())
        self.optimizer = make_optimizer(trained, config.optimizer)
        self.rows = rows_of_rank(plan.batch, rank=world.rank, world=world.size)
        self.streams = Streams(
            store.train_tokens,
            store.train_sentences,
            store.train_documents,
            seed=config.seed,
            batch=plan.batch,
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
            bf16=uses_bf16(config, device),
        )
        self.dropout_generator = torch.Generator(device)
        self.capacity, self.captured = 0, None
        if can_be_captured(config, world, device):
            self.capacity = self._make_capacity()
            places = distinct_rows_within(self.capacity, table_rows=len(self.table.rows))
            body = partial(self._run, distinct=places)
            self.captured = CapturedStep(body, state=self.state, dropout=self.dropout_generator)
        self.prefetch = Prefetch(self._make_ready)

    def step(self, step: int, *, rate_factor: float = 1.0) -> StepResult:
        """Train on the batch of a step. The answer's tensors stay on the device."""
        ready = self.prefetch.take(step)
        if ready.kept is not None:
            kept = ready.kept.to(self.device, non_blocking=True)
            self.state.h.mul_(kept)
            self.state.c.mul_(kept)
        rate = self.rate(step) * rate_factor
        seed = seed_for("dropout", seed=self.config.seed, step=step, rank=self.world.rank)
        if self.captured is None:
            inputs = tuple(tensor.to(self.device) for tensor in ready.tensors)
            self.dropout_generator.manual_seed(seed)
            result = self._run(inputs, self.state, rate, distinct=distinct_rows)
        else:
            if self.state.h is not self.captured.state.h:
                self.captured.set_state(self.state)
            overfull = partial(self._run, distinct=distinct_rows) if ready.distinct > self.capacity else None
            result = self.captured(ready.tensors, rate=rate, seed=seed, body=overfull)
        self.state = result.state
        return result

    def _run(self, inputs: tuple[Tensor, ...], state: State, rate: float | Tensor, *, distinct: Distinct) -> StepResult:
        """A step on tensors of the device: symbols [R, T + 1, B], and sampled classes [S] if there are any."""
        symbols, *ids = inputs
        samples = None
        if ids and self.plan.samples is not None:
            vocabulary = len(self.store.vocabulary)
            samples = Samples(ids[0], race_threshold(self.plan.samples, vocabulary), vocabulary)
        return train_step(
            self.model,
            self.optimizer,
            self.gradients,
            self.table,
            symbols[:, :-1],
            symbols[:, 1:],
            state,
            rate=rate,
            samples=samples,
            dropout_generator=self.dropout_generator,
            options=self.options,
            world=self.world,
            distinct=distinct,
        )

    def _make_ready(self, step: int) -> "_Ready":
        """What a step reads, as tensors on the host."""
        batch = self.streams.batch(step, self.rows)
        symbols = np.concatenate([batch.inputs, batch.targets[:, -1:]], axis=1)  # [R, T + 1, B]
        tensors = [torch.from_numpy(symbols)]
        if self.plan.samples is not None:
            generator = generator_for("negatives", seed=self.config.seed, step=step)
            tensors.append(draw_log_uniform(self.plan.samples, len(self.store.vocabulary), generator=generator).ids)
        kept = self._kept_rows(step, torch.from_numpy(symbols[:, 0] == SEPARATOR))
        if self.device.type == "cuda":
            tensors = [tensor.pin_memory() for tensor in tensors]
            kept = None if kept is None else kept.pin_memory()
        return _Ready(tuple(tensors), _count_distinct(symbols, len(self.table.rows)) if self.capacity else 0, kept)

    def _kept_rows(self, step: int, at_start: Tensor) -> Tensor | None:
        """0 where a row's state is reset, which happens only at the start of a sentence [R, B]; None: nowhere."""
        if self.config.reset == 0:
            return None
        generator = generator_for("reset", seed=self.config.seed, step=step)
        # Drawn for all rows, whoever has them, so that the number of processes changes nothing.
        chance = torch.rand(len(at_start), self.plan.batch, generator=generator)[:, self.rows]
        reset = at_start & (chance < self.config.reset)
        return (~reset).float()[:, :, None] if reset.any() else None  # [R, B, 1]

    def _make_capacity(self) -> int:
        """Places for distinct rows in a captured step: a quarter more than batches of all over the epoch have."""
        chosen = np.linspace(0, self.streams.windows - 1, num=8).astype(int)
        most = max(
            _count_distinct(self.streams.batch(int(window), self.rows).inputs, len(self.table.rows))
            for window in chosen
        )
        return math.ceil(most * 1.25 / 256) * 256

    def rate(self, step: int) -> float:
        """The learning rate of a step."""
        return self.config.optimizer.rate * rate_share(step, self.plan.steps, self.config.schedule)

    def evaluate(
        self, *, state: StateMode = "carry", symbols: int | None = None, start: State | None = None
    ) -> Perplexity:
        """The held-out perplexity; see `measure_perplexity`."""
        return measure_perplexity(
            self.model,
            self.table,
            self.store.heldout_tokens,
            self.store.heldout_sentences,
            state=state,
            symbols=symbols,
            start=start,
        )

    def loaded_model(self) -> LoadedModel:
        """The model as a reader of files would have it, its settled state computed anew."""
        head = self.model.head
        loaded = LoadedModel(
            bilm=self.model.bilm,
            tokenizer=self.store.tokenizer,
            vocabulary=self.store.vocabulary,
            softmax=Softmax(head.weight, head.bias) if isinstance(head, SoftmaxHead) else None,
        )
        loaded.settle()
        return loaded

    def model_files(self) -> dict[str, Callable[[Path], None]]:
        """Files of the model that its format does not know, by name, each with what writes it."""
        head = self.model.head
        return {ADAPTIVE_FILE: partial(write_adaptive, head)} if isinstance(head, AdaptiveHead) else {}

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
        shape = (config.layers, config.directions, self.plan.batch)
        h, c = (torch.zeros(*shape, size, device=self.device) for size in (config.output_dim, config.cell_dim))
        own = self._optimizer_tensors()
        if checkpoint is not None:
            self.load_model(checkpoint)
            ours = {"state.h": h, "state.c": c, **own}
            tensors = checkpoint.tensors({name: tuple(tensor.shape) for name, tensor in ours.items()})
            for name, tensor in ours.items():
                tensor.copy_(tensors[name])
        self.world.take_from_first_([h, c, *self.model.state_dict().values(), *own.values()])
        dtype = self.state.h.dtype
        self.state = State(h[:, :, self.rows].to(dtype), c[:, :, self.rows].clone())

    @torch.no_grad()
    def load_model(self, checkpoint: Checkpoint) -> None:
        """Take the weights of a checkpoint and nothing else."""
        head = self.model.head
        saved = read_native(checkpoint.path)
        self.model.bilm.load_state_dict(saved.bilm.state_dict())
        if isinstance(head, AdaptiveHead):
            adaptive = read_adaptive(checkpoint.path, vocabulary=head.vocabulary, size=head.softmax.in_features)
            if adaptive is None:
                raise ResumeError(f"{checkpoint.path}: has no adaptive softmax, but the loss needs it")
            head.load_state_dict(adaptive.state_dict())
        elif saved.softmax is None:
            raise ResumeError(f"{checkpoint.path}: has no softmax, but the loss needs it")
        else:
            head.weight.copy_(saved.softmax.weight)
            head.bias.copy_(saved.softmax.bias)

    def _optimizer_tensors(self) -> dict[str, Tensor]:
        return {f"optimizer.{name}": tensor for name, tensor in self.optimizer.tensors().items()}


class _Ready(NamedTuple):
    """What a step reads, on the host; `distinct` is counted only where it matters."""

    tensors: tuple[Tensor, ...]
    distinct: int
    kept: Tensor | None  # [R, B, 1], 0 where a row's state is reset


def _count_distinct(symbols: npt.NDArray[np.int32], table_rows: int) -> int:
    """Distinct rows of a batch, at most: the separator stands for one in each direction."""
    present = np.zeros(table_rows, dtype=bool)
    present[symbols] = True
    return int(present.sum()) + 1


def can_be_captured(config: TrainConfig, world: World, device: torch.device) -> bool:
    """Whether the step can be one CUDA graph: one process, all rows at once, a loss whose shapes are fixed."""
    return device.type == "cuda" and world.size == 1 and config.accumulate == 1 and config.loss.kind == "sampled"


def new_model(config: TrainConfig, *, vocabulary: int) -> LanguageModel:
    """An initialized model of the configured architecture, on the CPU."""
    architecture = config.architecture
    if isinstance(architecture.tokens, WordTableConfig) and architecture.tokens.words != vocabulary:
        raise ConfigError(
            f"model.tokens.words is {architecture.tokens.words}, but the corpus has a vocabulary of {vocabulary}; "
            "they must be equal"
        )
    bilm = BiLM(architecture)
    head = make_head(config.loss, vocabulary=vocabulary, size=architecture.lstm.output_dim)
    generator = generator_for("weights", seed=config.seed)
    bilm.initialize(generator)
    head.initialize(generator)
    return LanguageModel(bilm, head)


def uses_bf16(config: TrainConfig, device: torch.device) -> bool:
    """Whether the step computes in bf16 (its weights stay fp32)."""
    if config.precision == "bf16" and device.type != "cuda":
        raise ConfigError(f"precision is 'bf16', which wants CUDA, but the device is {device.type!r}; use 'fp32'")
    if config.precision == "auto":
        return device.type == "cuda" and torch.cuda.is_bf16_supported()
    return config.precision == "bf16"

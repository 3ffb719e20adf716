"""The trainer: model, optimizer, data and states of one process, put together; `step` advances them by one batch."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from elmo.corpus.layout import SEPARATOR
from elmo.corpus.store import CorpusStore
from elmo.errors import ResumeError
from elmo.lm.adaptive import FILE as ADAPTIVE_FILE
from elmo.lm.adaptive import AdaptiveHead, read_adaptive, write_adaptive
from elmo.lm.head import SoftmaxHead, make_head
from elmo.lm.languagemodel import LanguageModel
from elmo.lm.perplexity import Perplexity, StateMode, measure_perplexity
from elmo.lm.typetable import make_type_table
from elmo.model.bilm import BiLM
from elmo.model.bilstm import State
from elmo.ops.device import uses_bf16
from elmo.ops.softmax import draw_log_uniform
from elmo.pretrain.checkpoint import Checkpoint
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.data.distinct import Distinct, distinct_rows, distinct_rows_within
from elmo.pretrain.data.source import make_source
from elmo.pretrain.data.streams import Streams, rows_of_rank
from elmo.pretrain.plan import Plan
from elmo.pretrain.step.gradients import Gradients
from elmo.pretrain.step.graph import CapturedStep
from elmo.pretrain.step.optimizers import make_optimizer
from elmo.pretrain.step.resets import kept_rows
from elmo.pretrain.step.step import StepOptions, StepResult, train_step
from elmo.run.distributed import World
from elmo.run.randomness import Generators, generator_for
from elmo.run.schedule import rate_share
from elmo.weights.loaded import LoadedModel, Softmax
from elmo.weights.native import read_native

# Places for distinct rows come in units of this size.
CAPACITY_UNIT = 256


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
        bf16 = uses_bf16(config.precision, device, option="precision")
        self.optimizer = make_optimizer(trained, config.optimizer, bf16=bf16)
        self.rows = rows_of_rank(plan.batch_size, rank=world.rank, world=world.size)
        self.streams = Streams(
            store.train_tokens,
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
            places = distinct_rows_within(self.capacity, table_rows=len(self.table.rows))
            body = partial(self._run, distinct=places)
            self.captured = CapturedStep(body, state=self.state, generators=self.generators)

    def step(self, step: int, *, rate_factor: float = 1.0) -> StepResult:
        """Train on the batch of a step. The answer's tensors stay on the device."""
        inputs = (self.source.symbols(step),)
        rate = self.rate(step) * rate_factor
        self.generators.seed(seed=self.config.seed, step=step, rank=self.world.rank)
        if self.captured is None:
            result = self._run((inputs[0].to(self.device),), self.state, rate, distinct=distinct_rows)
        else:
            if self.state.h is not self.captured.state.h:
                self.captured.set_state(self.state)
            overfull = self.source.distinct(step) > self.capacity
            result = self.captured(
                inputs, rate=rate, body=partial(self._run, distinct=distinct_rows) if overfull else None
            )
        self.state = result.state
        return result

    def _run(self, inputs: tuple[Tensor, ...], state: State, rate: float | Tensor, *, distinct: Distinct) -> StepResult:
        """A step on symbols of the device [R, T + 1, B]; everything random is drawn here."""
        (symbols,) = inputs
        samples = None
        if self.plan.samples is not None:
            samples = draw_log_uniform(
                self.plan.samples, len(self.store.vocabulary), generator=self.generators.negatives
            )
        if self.config.reset > 0:
            kept = kept_rows(
                symbols[:, 0],
                separator=SEPARATOR,
                share=self.config.reset,
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
            symbols[:, :-1],
            symbols[:, 1:],
            state,
            rate=rate,
            samples=samples,
            dropout_generator=self.generators.dropout,
            options=self.options,
            world=self.world,
            distinct=distinct,
        )

    def rate(self, step: int) -> float:
        """The learning rate of a step."""
        return self.plan.rate * rate_share(step, self.plan.steps, self.config.schedule)

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
        shape = (config.layers, config.directions, self.plan.batch_size)
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


def can_be_captured(config: TrainConfig, world: World, device: torch.device) -> bool:
    """Whether the step can be one CUDA graph: one process, all rows at once, a loss whose shapes are fixed."""
    return device.type == "cuda" and world.size == 1 and config.accumulate == 1 and config.loss.kind == "sampled"


def new_model(config: TrainConfig, *, vocabulary: int) -> LanguageModel:
    """An initialized model of the configured architecture, on the CPU."""
    architecture = config.architecture
    architecture.tokens.require_vocabulary(vocabulary)
    bilm = BiLM(architecture)
    head = make_head(config.loss, vocabulary=vocabulary, size=architecture.lstm.output_dim)
    generator = generator_for("weights", seed=config.seed)
    bilm.initialize(generator)
    head.initialize(generator)
    return LanguageModel(bilm, head)

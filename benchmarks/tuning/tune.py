"""Tuning in memory: no checkpoints, perplexities of held-out and of training text, and averages with the start."""

import copy
from typing import Any

import torch

from benchmarks.tuning.recipes import Tuning
from elmo.corpus.store import CorpusStore
from elmo.lm.languagemodel import LanguageModel, softmax_head
from elmo.lm.perplexity import measure_perplexity
from elmo.pretrain.extension import extend_softmax, extended_vocabulary
from elmo.pretrain.models import loaded_model
from elmo.pretrain.plan import make_plan
from elmo.pretrain.trainer import Trainer
from elmo.run.distributed import World
from elmo.weights.loaded import LoadedModel

SOFTMAX_RATE = 1e-3


class Tuned:
    """A model before and after a tuning, and all between them."""

    def __init__(self, model: LoadedModel, store: CorpusStore, tuning: Tuning | None, *, world: World, device: str):
        self.store = store.with_vocabulary(extended_vocabulary(model, store))
        self.tokenizer = model.tokenizer
        started = extend_softmax(model, self.store)
        assert started.softmax is not None
        self.device = torch.device(device)
        self.network = copy.deepcopy(LanguageModel(started.bilm, softmax_head(started.softmax))).train()
        self.network.to(self.device)
        self.before = {name: tensor.clone() for name, tensor in self.network.state_dict().items()}
        self.steps = 0
        if tuning is None:
            self.trainer = self._trainer(Tuning(), world, epochs=1.0, rate=1e-4, trained=("",))
        else:
            if tuning.head:
                self._learn(tuning, world, epochs=tuning.head, rate=SOFTMAX_RATE, trained=("head",))
            self._learn(tuning, world, epochs=tuning.epochs, rate=tuning.rate, trained=tuning.trained)
        self.after = {name: tensor.clone() for name, tensor in self.network.state_dict().items()}

    def _trainer(
        self, tuning: Tuning, world: World, *, epochs: float, rate: float, trained: tuple[str, ...]
    ) -> Trainer:
        for name, parameter in self.network.named_parameters():
            parameter.requires_grad_(name.startswith(trained))
        symbols = len(self.store.train_symbols)
        plan = make_plan(
            tuning.config(symbols, epochs=epochs, rate=rate).replace(model=self.network.bilm.config),
            symbols=symbols,
            vocabulary=len(self.store.vocabulary),
            device="cpu" if self.device.type == "cpu" else "cuda",
        )
        trainer = Trainer(self.store, plan, model=self.network, world=world, device=self.device)
        if tuning.by_place:
            trainer.ranks = None
        return trainer

    def _learn(self, tuning: Tuning, world: World, *, epochs: float, rate: float, trained: tuple[str, ...]) -> None:
        self.trainer = self._trainer(tuning, world, epochs=epochs, rate=rate, trained=trained)
        for step in range(self.trainer.plan.steps):
            self.trainer.step(step)
        self.steps += self.trainer.plan.steps

    @torch.no_grad()
    def take(self, share: float) -> None:
        """Become the average of before and after; `share` is that of after."""
        for name, tensor in self.network.state_dict().items():
            after = self.after[name]
            tensor.copy_(torch.lerp(self.before[name], after, share) if after.is_floating_point() else after)

    def loaded(self) -> LoadedModel:
        """The model as it is now, settled."""
        return loaded_model(self.network, self.store, tokenizer=self.tokenizer).replace(softmax=None, vocabulary=None)

    def perplexities(self, symbols: int) -> dict[str, float]:
        """Of held-out and of training sentences, about so many symbols each, and the share of words outside."""
        found: dict[str, Any] = {}
        for split in ("heldout", "train"):
            measured = measure_perplexity(
                self.network,
                self.trainer.table,
                self.store.symbols(split),
                self.store.sentences(split),
                symbol_count=symbols,
            )
            found[split] = round(measured.average, 3)
            if split == "heldout":
                found["outside"] = round(measured.unknown_rate, 5)
        return found

"""`Learner`: model, optimizer and data of a task's training; `step` advances them by one batch."""

import logging
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from elmo.disk.guarded.plainfiles import one_line
from elmo.errors import ResumeError
from elmo.ops.device import uses_bf16
from elmo.run.randomness import seed_for
from elmo.tasks.embedding.layercache import LayerStore
from elmo.tasks.embedding.wordlist import WordList
from elmo.tasks.embedding.wordvectors import WordVectors
from elmo.tasks.examples import Example
from elmo.tasks.ragged import Integers
from elmo.tasks.recipes import Recipe
from elmo.tasks.task import Task, TaskModel, Unwaited, check_labels
from elmo.tasks.training.checkpoint import TaskProgress
from elmo.tasks.training.config import TaskTrainConfig, learning_rate_at
from elmo.tasks.training.dataset import Dataset, autocast
from elmo.tasks.training.fixedsteps import Body, FixedSteps, Shape, fixed_shape
from elmo.tasks.training.trained import BiLMReference, TrainedTask, build_model
from elmo.weights.loaded import LoadedModel

logger = logging.getLogger(__name__)


class Learner:
    """Model, optimizer and data, put together; `step` advances them by one batch."""

    def __init__(
        self,
        name: str,
        recipe: Recipe,
        task: Task,
        examples: Sequence[Example],
        dev: Sequence[Example],
        *,
        model: LoadedModel | None,
        reference: BiLMReference | None,
        vectors: WordVectors | None,
        device: torch.device,
        store: LayerStore | None,
    ) -> None:
        config = recipe.train
        labels = task.find_labels(examples)
        check_labels(task.find_labels(dev), labels, where="dev", describe=task.describe_label)
        word_list, word_dim = None, 0
        if recipe.embedding.words is not None:
            words = recipe.embedding.words
            if vectors is None and not words.train:
                recipe = recipe.changed({"embedding.words.train": True})  # there is nothing to keep as it is
            tokens = (text.tokens for example in examples for text in example.texts)
            word_list = WordList.collect(tokens, vectors, most=words.most)
            word_dim = words.dim if vectors is None else vectors.dim
        torch.manual_seed(seed_for("weights", seed=config.seed))
        network = build_model(task, recipe.embedding, labels, word_list=word_list, word_dim=word_dim, model=model)
        if vectors is not None and word_list is not None and network.embedding.words is not None:
            network.embedding.words.fill(word_list, vectors)
        self.device, self.config, self.task = device, config, task
        self.model = network.to(device)
        self.trained = TrainedTask(
            name=name, recipe=recipe, task=task, labels=labels, model=self.model, bilm_reference=reference
        )
        self.data = Dataset(task, examples, network.embedding, labels=labels, store=store)
        self.dev = self.trained.questions(dev, store=store)
        self.bf16 = uses_bf16(config.precision, device, option="train.precision")
        self.steps_an_epoch = -(-len(self.data) // config.batch_size)
        reason = reason_against_fixed_steps(self.model, self.data, config, device)
        if reason is not None:
            logger.info("the training step is not recorded as a CUDA graph: %s", reason)
        self.learning = {n: p for n, p in self.model.named_parameters() if p.requires_grad}
        # A rate that a recorded step reads anew each time stands on the device.
        self._rate = None if reason is not None else torch.tensor(config.learning_rate, device=device)
        self.optimizer = torch.optim.Adam(
            self.learning.values(),
            lr=config.learning_rate if self._rate is None else self._rate,
            weight_decay=config.weight_decay,
            fused=True,
            capturable=device.type == "cuda" and self._rate is not None,
        )
        self.fixed: FixedSteps | None = None
        if reason is None:
            body = Body(self._learn_fixed, self._seed, self._set_rate)
            self.fixed = FixedSteps(body, size=config.batch_size, device=device, record=device.type == "cuda")
        self.best: dict[str, Tensor] | None = None

    def global_step(self, progress: TaskProgress) -> int:
        """Steps done in all epochs."""
        return progress.epoch * self.steps_an_epoch + progress.step_in_epoch

    def step(self, rows: Integers, step: int) -> Tensor:
        """Learn from one batch; its loss, on the device."""
        self.model.train()
        if self.fixed is not None:
            shape = fixed_shape([lengths[rows] for lengths in self.data.text_lengths])
            if shape is not None:
                return self.fixed(rows, shape, step)
            self.fixed.settle()  # the steps before this one have to be right
        self._seed(step)
        self._set_rate(step)
        self.optimizer.zero_grad(set_to_none=True)
        with autocast(self.device, bf16=self.bf16):
            loss = self.model.loss(self.data.batch(rows))
        self._learn(loss)
        return loss.detach()

    def settle(self) -> None:
        """Wait until the losses of all steps, and what they have learned, are what they should be."""
        if self.fixed is not None:
            self.fixed.settle()

    def _learn_fixed(self, rows: Tensor, shape: Shape, broken: Tensor, checked: bool) -> Tensor:
        self.optimizer.zero_grad(set_to_none=True)
        # Without a memory of weights in bf16: in a CUDA graph each use needs its own.
        with autocast(self.device, bf16=self.bf16, cache=False):
            batch = self.data.padded_batch(rows, shape)
            loss, sound = Unwaited(self.model.loss(batch)) if checked else self.model.loss_without_waiting(batch)
        if sound is not None:
            broken.copy_(torch.maximum(broken, (~sound).to(broken.dtype)))
        self._learn(loss, broken)
        return loss

    def _learn(self, loss: Tensor, broken: Tensor | None = None) -> None:
        """The update, which the fused Adam does not make where `broken` is 1. [torch.amp.GradScaler]"""
        (loss + self.model.embedding.mix_penalty()).backward()
        if self.config.clip is not None:
            torch.nn.utils.clip_grad_norm_(self.learning.values(), self.config.clip)
        self.optimizer.found_inf = broken  # type: ignore[attr-defined]
        self.optimizer.step()

    def _seed(self, step: int) -> None:
        # Each step has random numbers of its own, so a resumed run needs no saved generators.
        torch.manual_seed(seed_for("dropout", seed=self.config.seed, step=step))

    def _set_rate(self, step: int) -> None:
        rate = learning_rate_at(step, self.steps_an_epoch * self.config.epochs, self.config)
        if self._rate is not None:
            self._rate.fill_(rate)
            return
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def score(self) -> dict[str, float]:
        """Scores on dev."""
        self.settle()
        return self.task.score(self.dev.examples, self.trained.answer(self.dev, bf16=self.bf16))

    def keep_as_best(self) -> None:
        """Remember the weights as they are now."""
        self.best = {name: tensor.detach().clone() for name, tensor in self.model.state_dict().items()}

    def tensors(self) -> dict[str, Tensor]:
        """All that a checkpoint holds."""
        self.settle()
        found = {f"now.{name}": tensor for name, tensor in self.model.state_dict().items()}
        found |= {f"best.{name}": tensor for name, tensor in (self.best or {}).items()}
        for name, parameter in self.learning.items():
            for key, value in self.optimizer.state.get(parameter, {}).items():
                found[f"adam.{key}.{name}"] = value.float()
        return found

    def load(self, tensors: dict[str, Tensor], progress: TaskProgress) -> None:
        """Go back to what `tensors` gave when the run had come as far as `progress` says."""
        parts: dict[str, dict[str, Tensor]] = {"now": {}, "best": {}, "adam": {}}
        for name, tensor in tensors.items():
            kind, _, rest = name.partition(".")
            parts.setdefault(kind, {})[rest] = tensor
        try:
            if progress.best is not None:
                self.model.load_state_dict(parts["best"])  # only to see that it fits, before more time is spent
                progress.best["scores"][self.task.metric]
            self.model.load_state_dict(parts["now"])
            for key, tensor in parts["adam"].items():
                kind, _, name = key.partition(".")
                self.optimizer.state[self.learning[name]][kind] = tensor.clone().to(self.device)
            for name, parameter in self.learning.items():
                _require_adam_state(self.optimizer.state.get(parameter, {}), parameter, name=name)
        except (RuntimeError, KeyError) as error:
            raise ResumeError(f"the checkpoint does not fit the model: {one_line(error)}") from None
        self.best = {name: tensor.clone().to(self.device) for name, tensor in parts["best"].items()} or None


def reason_against_fixed_steps(
    model: TaskModel, data: Dataset, config: TaskTrainConfig, device: torch.device
) -> str | None:
    """Why steps are not taken in fixed shapes, which only a GPU gains from."""
    if device.type != "cuda":
        return "the device is no GPU"
    if not config.cuda_graphs:
        return "train.cuda_graphs is false"
    if not model.can_be_captured:
        return f"{type(model).__name__} has steps of many shapes"
    return None if data.has_fixed_shapes else "the layers of the biLM are not in the memory of the GPU"


def _require_adam_state(state: Mapping[str, Tensor], parameter: Tensor, *, name: str) -> None:
    """Refuse half a state, or one of other sizes; none at all is right before the first step."""
    shapes = {kind: tensor.shape for kind, tensor in state.items()}
    whole = {"step": torch.Size(), "exp_avg": parameter.shape, "exp_avg_sq": parameter.shape}
    if shapes not in ({}, whole):
        raise KeyError(f"the state of Adam for {name}")

"""A task's training step on a GPU: packed texts launched by the host, against fixed shapes recorded as CUDA graphs.

    python -m benchmarks.gpu.task_step --data ner=eng.train --dev eng.testa --vectors glove.npz

Epochs of the first task recorded, and one in each other way, with their mean loss and, with --dev, the score after
each (--epochs 0: none); then steps of every task, the same batches both ways (--steps 0: none); the memory that each
takes beside the layers of the biLM, and the kernels of a recorded step. A task without a file gets made-up examples,
for names in lengths like CoNLL-2003's. `not recorded` is the recorded step launched by the host.
"""

import argparse
import gc
import logging
import statistics
import time
import traceback
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from benchmarks.gpu.timing import kernels_of, machine, print_kernels
from elmo.tasks.embedding.layercache import LayerStore
from elmo.tasks.embedding.wordvectors import read_word_vectors
from elmo.tasks.examples import Example, Text
from elmo.tasks.recipes import Recipe, find_recipe, parse_change
from elmo.tasks.training.batching import epoch_batches
from elmo.tasks.training.fixedsteps import SEEN_BEFORE
from elmo.tasks.training.learner import Learner
from elmo.weights.formats import read_model

WAYS = ("packed", "not recorded", "recorded", "recorded, without cuDNN")
MADE_UP = {"ner": 14041, "chunk": 8936, "pos": 12544, "classification": 8544, "entailment": 20000}
LABELS = {"ner": ("O", "B-PER", "I-PER", "B-LOC", "B-ORG", "I-ORG", "B-MISC", "O", "O", "O"), "chunk": ("B-NP", "I-NP")}
SETTLING = SEEN_BEFORE + 2  # passes over some batches before they are timed: shapes are recorded by then


def make_up(task: str, count: int) -> list[Example]:
    """Examples of lengths and words like those of real ones."""
    random = np.random.default_rng(0)
    words = ["".join(chr(97 + c) for c in random.integers(0, 26, size)) for size in random.integers(1, 12, 23_000)]
    frequency = 1 / np.arange(10, 10 + len(words))
    frequency /= frequency.sum()

    def text(most: int = 113) -> Text:
        length = int(min(most, 1 + random.gamma(1.5, 9.0)))
        return Text(tuple(words[n] for n in random.choice(len(words), length, p=frequency)))

    def example() -> Example:
        if task == "entailment":
            return Example((text(40), text(20)), answer=str(random.integers(3)))
        own = text()
        if task == "classification":
            return Example((own,), answer=str(random.integers(5)))
        labels = LABELS.get(task, tuple(f"T{n}" for n in range(40)))
        answer = tuple(labels[n] for n in random.integers(0, len(labels), len(own)))
        return Example((own,), answer=answer)

    return [example() for _ in range(count)]


class Ways:
    """Learners of one task, one for each way; the layers of the biLM are shared."""

    def __init__(self, task: str, given: argparse.Namespace, store: LayerStore) -> None:
        self.name, self.given, self.store = task, given, store
        self.recipe: Recipe = find_recipe(task).changed(
            {"embedding.elmo.where": given.elmo, **dict(map(parse_change, given.changes))}
        )
        self.task = self.recipe.make_task()
        files = dict(pair.split("=", 1) for pair in given.data)
        read = self.task.read(files[task]) if task in files else make_up(task, MADE_UP[task])
        self.examples = self.task.training_examples(read)
        self.dev = self.task.read(str(given.dev)) if given.dev and task == given.tasks[0] else self.examples[:5]
        self.model = None if given.elmo == "none" else read_model(given.model)
        self.vectors = None if given.vectors is None else read_word_vectors(given.vectors)
        self.learner(WAYS[0])  # makes the layers, so that no way is charged with them

    def learner(self, way: str) -> Learner:
        learner = Learner(
            self.name,
            self.recipe.changed({"train.cuda_graphs": way != "packed"}),
            self.task,
            self.examples,
            self.dev,
            model=self.model,
            reference=None,
            vectors=self.vectors,
            device=torch.device("cuda"),
            store=self.store,
        )
        if way == "not recorded":
            assert learner.fixed is not None
            learner.fixed._record_more = False
        return learner

    def batches(self, learner: Learner, epoch: int) -> list[Any]:
        return epoch_batches(learner.data.lengths, batch=self.recipe.train.batch_size, seed=1, epoch=epoch)


def without_cudnn(way: str) -> Any:
    """PyTorch's own LSTM in the place of cuDNN's, for that way alone."""
    if not way.endswith("without cuDNN"):
        return nullcontext()
    lstm = torch.lstm

    def own(*arguments: Any) -> Any:
        with torch.backends.cudnn.flags(enabled=False):
            return lstm(*arguments)

    return patch("torch.lstm", own)


def seconds_of(do: Callable[[], object]) -> float:
    torch.cuda.synchronize()
    began = time.perf_counter()
    do()
    torch.cuda.synchronize()
    return time.perf_counter() - began


def take(learner: Learner, batches: list[Any], first: int) -> list[torch.Tensor]:
    losses = [learner.step(rows, first + n) for n, rows in enumerate(batches)]
    learner.settle()
    return losses


def told_memory(before: int) -> str:
    allocated, reserved = torch.cuda.max_memory_allocated() - before, torch.cuda.max_memory_reserved() - before
    return f"peak {allocated / 1e9:.2f} GB allocated, {reserved / 1e9:.2f} GB reserved"


def clear() -> int:
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    return torch.cuda.memory_allocated()


def time_epochs(ways: Ways, way: str, epochs: int) -> float:
    """The fastest of some epochs."""
    before = clear()
    learner = ways.learner(way)
    found: list[float] = []
    told: list[str] = []
    with without_cudnn(way):
        for epoch in range(epochs):
            batches = ways.batches(learner, epoch)
            losses: list[torch.Tensor] = []
            found.append(seconds_of(lambda: losses.extend(take(learner, batches, epoch * len(batches)))))  # noqa: B023
            loss = float(torch.stack(losses).double().mean())
            score = f", {ways.task.metric} {learner.score()[ways.task.metric]:.2f}" if ways.given.dev else ""
            told.append(f"{found[-1]:.2f} s (loss {loss:.4f}{score})")
    graphs = "" if learner.fixed is None else f"; graphs {[shape[0] for shape in learner.fixed.recorded]}"
    print(f"  {way:24} {'; '.join(told)}; {len(batches)} steps; {told_memory(before)}{graphs}", flush=True)
    list_kernels(ways, way, learner, batches)
    return min(found)


def time_steps(ways: Ways, way: str, steps: int) -> float:
    """Milliseconds of a step over some batches, the median of three passes."""
    before = clear()
    learner = ways.learner(way)
    batches = [b for b in ways.batches(learner, 0) if len(b) == ways.recipe.train.batch_size][:steps]
    with without_cudnn(way):
        for n in range(SETTLING if way != "packed" else 1):
            take(learner, batches, n * len(batches))
        found = [seconds_of(lambda: take(learner, batches, 0)) for _ in range(3)]
    milliseconds = 1000 * statistics.median(found) / len(batches)
    graphs = "" if learner.fixed is None else f"; {len(learner.fixed.recorded)} graphs"
    print(f"  {way:24} {milliseconds:8.2f} ms a step; {told_memory(before)}{graphs}", flush=True)
    list_kernels(ways, way, learner, batches)
    return milliseconds


def list_kernels(ways: Ways, way: str, learner: Learner, batches: list[Any]) -> None:
    """What a recorded step of middle length is made of, where it is wanted."""
    if not way.startswith("recorded") or not ways.given.profile:
        return
    lengths = learner.data.lengths
    middle = sorted(batches, key=lambda rows: int(lengths[rows].max()))[len(batches) // 2]
    kernels = kernels_of(lambda: learner.step(middle, 0), top=10_000)
    busy, launches = sum(row[2] for row in kernels), sum(row[1] for row in kernels)
    print(f"  kernels of the middle batch: {launches}, {busy:.2f} ms")
    print_kernels(kernels[: ways.given.profile])


def tried(do: Callable[[], float]) -> float:
    try:
        return do()
    except Exception:
        traceback.print_exc()
        return float("nan")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", default=["ner", "pos", "classification", "entailment"])
    parser.add_argument("--data", nargs="+", default=[], metavar="TASK=FILE", help="training examples of a task")
    parser.add_argument("--dev", type=Path, help="of the first task")
    parser.add_argument("--model", default="english")
    parser.add_argument("--vectors")
    parser.add_argument("--elmo", default="input", help="where it is added; none: the baseline")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS)
    parser.add_argument("--profile", type=int, default=0, metavar="N", help="list the N dearest kernels of a step")
    parser.add_argument("--set", dest="changes", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args(arguments)
    logging.basicConfig()
    logging.getLogger("elmo.tasks.training").setLevel(logging.DEBUG)  # why something is not recorded
    print(machine())
    store = LayerStore()
    began = time.perf_counter()
    for task in given.tasks:
        ways = Ways(task, given, store)
        tokens = np.mean([sum(map(len, example.texts)) for example in ways.examples])
        print(f"{task}: {len(ways.examples)} examples of {tokens:.1f} tokens ({time.perf_counter() - began:.0f} s)")
        if task == given.tasks[0] and given.epochs:
            print("  epochs, training alone:")
            epochs = {way: given.epochs if way == "recorded" else 1 for way in given.ways}
            print_ratios({way: tried(lambda: time_epochs(ways, way, epochs[way])) for way in given.ways})  # noqa: B023
        if given.steps:
            print("  steps:")
            print_ratios({way: tried(lambda: time_steps(ways, way, given.steps)) for way in given.ways})  # noqa: B023


def print_ratios(found: dict[str, float]) -> None:
    base = found.get("packed")
    if base is not None:
        print("  packed / it: " + ", ".join(f"{way} {base / own:.2f}" for way, own in found.items() if way != "packed"))


if __name__ == "__main__":
    main()

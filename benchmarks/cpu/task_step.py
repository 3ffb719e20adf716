"""What a task's training step takes on a CPU: where the time goes, and beside PyTorch's own LSTM in the same run.

    python -m benchmarks.cpu.task_step ner eng.train --elmo input --steps 24

Each batch is learned twice, with our LSTM and with PyTorch's, in turns; times are of this process on one thread, the
ratio is the median over the batches. `batches` is what it takes to put the batches together. Then the dearest of
PyTorch's operations are told by their share of our steps.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence

from elmo.tasks.embedding.layercache import CacheConfig, LayerStore
from elmo.tasks.embedding.wordvectors import read_word_vectors
from elmo.tasks.networks import encoder
from elmo.tasks.recipes import find_recipe, parse_change
from elmo.tasks.training.batching import epoch_batches
from elmo.tasks.training.learner import Learner
from elmo.weights.formats import read_model

DEV = 5  # examples; they are not asked


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task")
    parser.add_argument("train", help="a file of examples")
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--elmo", default="input", help="where it is added; none: the baseline")
    parser.add_argument("--model", default="english")
    parser.add_argument("--vectors")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--operations", type=int, default=10, help="told by their share, the dearest first")
    parser.add_argument("--set", dest="changes", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    recipe = find_recipe(given.task).changed(
        {"embedding.elmo.where": given.elmo, **dict(map(parse_change, given.changes))}
    )
    task = recipe.make_task()
    examples = task.training_examples(task.read(given.train)[: given.examples])
    learner = Learner(
        given.task,
        recipe,
        task,
        examples,
        examples[:DEV],
        model=None if given.elmo == "none" else read_model(given.model),
        reference=None,
        vectors=None if given.vectors is None else read_word_vectors(given.vectors),
        device=torch.device("cpu"),
        store=LayerStore(CacheConfig(folder=given.cache)),
    )
    batches = epoch_batches(learner.data.lengths, batch=recipe.train.batch_size, seed=1, epoch=0)[: given.steps]
    learner.step(batches[0], 0)  # allocates what stays
    ours, found = encoder.read_layer, {"ours": [0.0] * len(batches), "PyTorch's": [0.0] * len(batches)}
    try:
        for n, rows in enumerate(batches):
            turns = [("ours", ours), ("PyTorch's", _pytorch)]
            for name, read in turns if n % 2 else turns[::-1]:
                encoder.read_layer = read
                found[name][n] = _seconds(lambda rows=rows, n=n: learner.step(rows, n))  # type: ignore[misc]
    finally:
        encoder.read_layer = ours
    together = sum(_seconds(lambda rows=rows: learner.data.batch(rows)) for rows in batches)  # type: ignore[misc]
    ratio = statistics.median(b / a for a, b in zip(found["ours"], found["PyTorch's"], strict=True))
    tokens = statistics.mean(float(learner.data.lengths[rows].mean()) for rows in batches)
    print(f"{given.task}: {len(batches)} steps of {recipe.train.batch_size} examples, {tokens:.0f} tokens each")
    for name, seconds in found.items():
        print(f"{name:10} {1000 * sum(seconds) / len(batches):8.1f} ms a step")
    print(f"{'batches':10} {1000 * together / len(batches):8.1f} ms a step")
    print(f"PyTorch's LSTM / ours: {ratio:.2f}")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        for n, rows in enumerate(batches):
            learner.step(rows, n)
    events = profile.key_averages()
    total = sum(event.self_cpu_time_total for event in events)
    for event in sorted(events, key=lambda event: -event.self_cpu_time_total)[: given.operations]:
        print(f"{event.key[:40]:40} {100 * event.self_cpu_time_total / total:5.1f} %")


def _seconds(do: Callable[[], object]) -> float:
    began = time.process_time()
    do()
    return time.process_time() - began


def _pytorch(layer: nn.Module, packed: PackedSequence) -> PackedSequence:
    found: PackedSequence = layer(packed)[0]
    return found


if __name__ == "__main__":
    main()

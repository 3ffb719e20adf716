"""The order of the examples: batches of like length, anew for each epoch, a function of seed and epoch alone."""

import numpy as np

from elmo.tasks.ragged import Integers

NOISE = 0.1  # lengths are taken for up to so much longer or shorter, so that batches differ from epoch to epoch


def epoch_batches(lengths: Integers, *, batch: int, seed: int, epoch: int) -> list[Integers]:
    """Numbers of examples, each once, in batches."""
    random = np.random.default_rng([seed, epoch])
    about = lengths * random.uniform(1 - NOISE, 1 + NOISE, len(lengths))
    order = np.lexsort((random.random(len(lengths)), about)).astype(np.int64)
    batches = [order[n : n + batch] for n in range(0, len(order), batch)]
    return [batches[n] for n in random.permutation(len(batches))]


def choose_fraction(count: int, fraction: float, *, seed: int) -> Integers:
    """Some of `count` examples in their order, at least one; a larger fraction holds the smaller one."""
    wanted = max(1, round(fraction * count))
    chosen = np.random.default_rng([seed, 0x66726163]).permutation(count)[:wanted]
    return np.sort(chosen).astype(np.int64)

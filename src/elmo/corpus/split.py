"""Which sentences are held out. Decides from lengths and document starts alone, and never by chance: the order in which
documents are taken is a hash of the seed and the document's number, so that workers and block sizes cannot matter.

S sentences, D documents or other units.
"""

import logging
import math

import numpy as np
import numpy.typing as npt

logger = logging.getLogger(__name__)

LONGEST_RUN = 100  # sentences taken together where whole documents are too long
RUNS_WANTED = 10
# Less than this says nothing about a model: a small text gives up a tenth for it.
LEAST_TOKENS = 2_000
LEAST_FRACTION = 0.1

Bools = npt.NDArray[np.bool_]


def choose_heldout(
    lengths: npt.NDArray[np.unsignedinteger],
    documents: npt.NDArray[np.int64],
    *,
    fraction: float,
    max_tokens: int,
    seed: int,
) -> Bools:
    """The held-out sentences [S] of a text with sentences of these lengths [S] and documents that start there [D].

    Whole documents are taken, as far as they fit. Where they are too few and long to come to half of what is wanted,
    runs of neighbouring sentences are taken instead. At least one sentence stays for training.
    """
    S = len(lengths)
    heldout = np.zeros(S, dtype=bool)
    if fraction == 0 or S < 2:
        return heldout
    total = int(lengths.sum(dtype=np.int64))
    wanted = max(fraction * total, min(LEAST_TOKENS, LEAST_FRACTION * total))
    wanted = min(math.ceil(wanted), max_tokens)
    taken = _take(lengths, documents, wanted=wanted, seed=seed)
    if 2 * lengths[taken].sum(dtype=np.int64) < wanted:
        run = min(max(wanted * S // total // RUNS_WANTED, 1), LONGEST_RUN)
        logger.info("documents are too long to be held out whole; runs of %d sentences are taken instead", run)
        taken = _take(lengths, np.arange(0, S, run), wanted=wanted, seed=seed)
    if not taken.any():  # even the shortest run is longer than wanted
        taken[int(np.argmin(lengths))] = True
    return taken


def _take(lengths: npt.NDArray[np.unsignedinteger], starts: npt.NDArray[np.int64], *, wanted: int, seed: int) -> Bools:
    """The sentences [S] of the units, in the order of their hashes, that come to at most `wanted` words together."""
    words = np.add.reduceat(lengths, starts, dtype=np.int64)  # [D]
    order = np.argsort(hashes(len(starts), seed=seed), kind="stable")  # [D]
    order = order[words[order] <= wanted]
    fitting = order[: np.searchsorted(np.cumsum(words[order]), wanted, side="right")]
    units = np.zeros(len(starts), dtype=bool)  # [D]
    units[fitting] = True
    return np.repeat(units, np.diff(starts, append=len(lengths)))


def hashes(count: int, *, seed: int) -> npt.NDArray[np.uint64]:
    """A hash of the seed with each of the numbers from 0 on: [count]. SplitMix64, whose steps these are."""
    x = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + _mix(
        np.array([seed], dtype=np.uint64)
    )
    return _mix(x)


def _mix(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))

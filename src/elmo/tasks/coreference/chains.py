"""Chains of mentions, and how good they are: MUC, B3 and CEAF_phi4 as the scorer of the CoNLL-2012 shared task counts.

Its rules for what should not be, but is found in files:
- A mention in two chains of the key stands in both; where it is asked which chain it is of, it is of the last.
- A mention that the response repeats, and that the key has, counts where it comes first; the others are removed. More
  than ten of them in all documents together are refused.
- Mentions that the response repeats, and that the key does not have, all stay.

[Pradhan et al. 2014, "Scoring Coreference Partitions of Predicted Mentions"; reference-coreference-scorers 8.01]
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from elmo.errors import InputError, MissingExtraError

Mention = tuple[int, int]  # first token, and the one behind the last
Chain = tuple[Mention, ...]

MOST_REPEATED = 10
MUC, B_CUBED, CEAF, MENTIONS = "MUC", "B3", "CEAF_phi4", "mentions"
MEASURES = (MUC, B_CUBED, CEAF)  # of which the mean is taken


class Agreement(NamedTuple):
    """What is right of what is wanted, and what is right of what is given."""

    right_of_wanted: float
    wanted: int
    right_of_given: float
    given: int

    def plus(self, other: "Agreement") -> "Agreement":
        """Both together."""
        return Agreement(
            self.right_of_wanted + other.right_of_wanted,
            self.wanted + other.wanted,
            self.right_of_given + other.right_of_given,
            self.given + other.given,
        )

    @property
    def recall(self) -> float:
        """In per cent."""
        return 100 * self.right_of_wanted / self.wanted if self.wanted else 0.0

    @property
    def precision(self) -> float:
        """In per cent."""
        return 100 * self.right_of_given / self.given if self.given else 0.0

    @property
    def f1(self) -> float:
        """In per cent."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def count_chains(pairs: Iterable[tuple[Sequence[Chain], Sequence[Chain]]]) -> dict[str, Agreement]:
    """The counts of each measure, summed over documents, each with its (wanted, given) chains."""
    totals = dict.fromkeys((*MEASURES, MENTIONS), Agreement(0, 0, 0, 0))
    repeated = 0
    for wanted, given in pairs:
        key = [list(mentions) for mentions in wanted]
        response, removed = _without_repeated(given, known=set(chain.from_iterable(key)))
        repeated += removed
        if repeated > MOST_REPEATED:
            raise InputError(
                f"{repeated} mentions are given more than once; with more than {MOST_REPEATED} in all documents there "
                "is no score. Give each mention one chain"
            )
        counts = {
            MUC: _muc(key, response),
            B_CUBED: _b_cubed(key, response),
            CEAF: _ceaf(key, response),
            MENTIONS: _mentions(key, response),
        }
        totals = {name: total.plus(counts[name]) for name, total in totals.items()}
    return totals


def mean_f1(counts: dict[str, Agreement]) -> float:
    """The mean of the three F1, the score of the shared task."""
    return sum(counts[name].f1 for name in MEASURES) / len(MEASURES)


def require_scipy() -> None:
    """Fail where the assignment of CEAF cannot be computed."""
    try:
        import scipy.optimize  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            "scoring coreference needs scipy; install it with: pip install 'elmo-embeddings[tasks]'"
        ) from error


def _without_repeated(given: Sequence[Chain], *, known: set[Mention]) -> tuple[list[list[Mention]], int]:
    """The chains without the repetitions of mentions that the key has, and how many those were."""
    seen: set[Mention] = set()
    response: list[list[Mention]] = []
    repeated = 0
    for mentions in given:
        kept = []
        for mention in mentions:
            if mention in seen:
                repeated += 1
                continue
            kept.append(mention)
            if mention in known:
                seen.add(mention)
        if kept:
            response.append(kept)
    return response, repeated


def _chain_of(chains: Sequence[Sequence[Mention]]) -> dict[Mention, int]:
    """The number of the last chain that a mention is in."""
    return {mention: n for n, mentions in enumerate(chains) for mention in mentions}


def _muc(key: Sequence[Sequence[Mention]], response: Sequence[Sequence[Mention]]) -> Agreement:
    of_key = _chain_of(key)
    right = 0
    for mentions in response:
        touched = [of_key[mention] for mention in mentions if mention in of_key]
        right += len(touched) - len(set(touched))
    wanted, given = (sum(len(mentions) - 1 for mentions in chains) for chains in (key, response))
    return Agreement(right, wanted, right, given)


def _b_cubed(key: Sequence[Sequence[Mention]], response: Sequence[Sequence[Mention]]) -> Agreement:
    of_key = _chain_of(key)
    of_wanted = of_given = 0.0
    for mentions in response:
        for mention in mentions:
            if mention in of_key:
                whole = key[of_key[mention]]
                same = set(whole)
                shared = sum(other in same for other in mentions)
                of_given += shared / len(mentions)
                of_wanted += shared / len(whole)
    wanted, given = (sum(map(len, chains)) for chains in (key, response))
    return Agreement(of_wanted, wanted, of_given, given)


def _ceaf(key: Sequence[Sequence[Mention]], response: Sequence[Sequence[Mention]]) -> Agreement:
    if not key or not response:
        return Agreement(0, len(key), 0, len(response))
    require_scipy()
    from scipy.optimize import linear_sum_assignment

    sets = [set(mentions) for mentions in response]
    alike = np.array(
        [
            [2 * sum(m in same for m in mentions) / (len(mentions) + len(other)) for same, other in pairs]
            for mentions in key
            for pairs in [list(zip(sets, response, strict=True))]
        ]
    )
    rows, columns = linear_sum_assignment(alike, maximize=True)
    total = float(alike[rows, columns].sum())
    return Agreement(total, len(key), total, len(response))


def _mentions(key: Sequence[Sequence[Mention]], response: Sequence[Sequence[Mention]]) -> Agreement:
    wanted, given = (set(chain.from_iterable(chains)) for chains in (key, response))
    return Agreement(len(wanted & given), len(wanted), len(wanted & given), len(given))

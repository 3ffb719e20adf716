"""Nearest neighbour over sense averages, for each layer. [Melamud et al. 2016; Peters et al. 2018, section 5.3]

I instances, S senses, K candidates of an instance, L layers, D size of a vector.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from elmo.embed.module import Elmo
from elmo.tasks.embedding.layercache import layer_batches
from elmo.tasks.ragged import row_starts
from elmo.tasks.wsd.corpus import Instance, SenseCorpus

INSTANCES_AT_ONCE = 256


@dataclass(frozen=True)
class SenseVectors:
    """The average vector of each sense of a corpus, by layer, each of length 1."""

    keys: list[str]
    vectors: Tensor  # [S, L, D]
    candidates: dict[tuple[str, str], list[int]]  # senses seen for a lemma and part of speech


def average_senses(elmo: Elmo, corpus: SenseCorpus) -> SenseVectors:
    """Average the vectors of all words that have a sense; a multi-word unit is the average of its tokens."""
    ids: dict[str, int] = {}
    candidates: dict[tuple[str, str], list[int]] = {}
    targets: list[list[int]] = []
    for instance in corpus.instances:
        senses = [ids.setdefault(key, len(ids)) for key in corpus.keys[instance.id]]
        seen = candidates.setdefault((instance.lemma, instance.pos), [])
        seen += [sense for sense in senses if sense not in seen]
        targets.append(senses)
    sums = _sum_vectors(elmo, corpus, targets, len(ids))
    return SenseVectors(list(ids), F.normalize(sums, dim=2), candidates)


def predict_senses(
    elmo: Elmo, corpus: SenseCorpus, senses: SenseVectors, first: Mapping[tuple[str, str], str]
) -> list[dict[str, str]]:
    """For each layer, and last for their mean: the nearest seen sense of each instance, by its id.

    The first sense stands in where the training corpus has none of the word; where there is none either, no answer.
    """
    vectors = _sum_vectors(
        elmo, corpus, [[n] for n in range(len(corpus.instances))], len(corpus.instances)
    )  # [I, L, D]
    vectors = F.normalize(vectors, dim=2)
    vectors = torch.cat([vectors, F.normalize(vectors.mean(1, keepdim=True), dim=2)], dim=1)
    known = torch.cat([senses.vectors, F.normalize(senses.vectors.mean(1, keepdim=True), dim=2)], dim=1)
    L = vectors.shape[1]
    answers: list[dict[str, str]] = [predict_first(corpus.instances, first, senses) for _ in range(L)]
    seen = [n for n, i in enumerate(corpus.instances) if (i.lemma, i.pos) in senses.candidates]
    # Instances with about as many candidates together: nothing is computed for nothing.
    seen.sort(key=lambda n: len(_candidates(senses, corpus.instances[n])))
    for start in range(0, len(seen), INSTANCES_AT_ONCE):
        chunk = seen[start : start + INSTANCES_AT_ONCE]
        rows = [_candidates(senses, corpus.instances[n]) for n in chunk]
        K = max(map(len, rows))
        padded = torch.tensor([row + [row[0]] * (K - len(row)) for row in rows], device=known.device)  # [I, K]
        nearness = torch.einsum("ild,ikld->ilk", vectors[torch.tensor(chunk, device=known.device)], known[padded])
        best = padded.gather(1, nearness.argmax(2)).tolist()  # [I, L]
        for n, found in zip(chunk, best, strict=True):
            for layer, sense in enumerate(found):
                answers[layer][corpus.instances[n].id] = senses.keys[sense]
    return answers


def predict_first(
    instances: Sequence[Instance], first: Mapping[tuple[str, str], str], senses: SenseVectors | None = None
) -> dict[str, str]:
    """The first sense of each instance, or only of those whose word `senses` has not seen."""
    return {
        i.id: first[i.lemma, i.pos]
        for i in instances
        if (i.lemma, i.pos) in first and (senses is None or (i.lemma, i.pos) not in senses.candidates)
    }


def score_senses(gold: Mapping[str, Sequence[str]], answers: Mapping[str, str]) -> float:
    """F1 in per cent as the framework's Scorer counts it: an answer is right if it is among the gold keys."""
    given = [(name, key) for name, key in answers.items() if name in gold]
    right = sum(key in gold[name] for name, key in given)
    if not right:
        return 0.0
    precision, recall = right / len(given), right / len(gold)
    return 100 * 2 * precision * recall / (precision + recall)


def _candidates(senses: SenseVectors, instance: Instance) -> list[int]:
    return senses.candidates[instance.lemma, instance.pos]


def _sum_vectors(elmo: Elmo, corpus: SenseCorpus, targets: Sequence[Sequence[int]], count: int) -> Tensor:
    """The sum over instances of their vectors, for each of `count` targets: [count, L, D]."""
    lengths = np.fromiter(map(len, corpus.sentences), dtype=np.int64, count=len(corpus.sentences))
    starts = row_starts(lengths)
    tokens: list[int] = []
    rows: list[int] = []
    fractions: list[float] = []
    for instance, wanted in zip(corpus.instances, targets, strict=True):
        first = int(starts[instance.sentence])
        for row in wanted:
            for token in range(first + instance.start, first + instance.end):
                tokens.append(token)
                rows.append(row)
                fractions.append(1 / (instance.end - instance.start))
    device = elmo.device
    token_of, row_of = torch.tensor(tokens, device=device), torch.tensor(rows, device=device)
    fraction_of = torch.tensor(fractions, device=device)
    total = int(lengths.sum())
    place = torch.full((total,), -1, device=device)
    sums = torch.zeros(count, elmo.layer_count, elmo.dim, device=device)
    for places, layers in layer_batches(elmo, corpus.sentences):
        place[places] = torch.arange(len(places), device=device)
        inside = place[token_of] >= 0
        at, to = place[token_of[inside]], row_of[inside]
        sums.index_add_(0, to, layers[at].float() * fraction_of[inside][:, None, None])
        place[places] = -1
    return sums

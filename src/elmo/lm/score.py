"""Scores of words in their sentences: log-probability and surprisal from both directions, and the best substitutes.

Log-probabilities are natural; surprisal is in bits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from elmo.errors import InputError
from elmo.lm.languagemodel import language_model
from elmo.lm.perplexity import hidden_windows, reading_losses
from elmo.lm.reading import sentence_readings
from elmo.lm.textcorpus import corpus_of_sentences
from elmo.model.choices import StateMode
from elmo.ops.device import choose_device
from elmo.text.vocabulary import END_SENTENCE, SPECIALS
from elmo.weights.loaded import LoadedModel


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenScore:
    """One token. For the end of a sentence `forward` predicts the end and `backward`, which reads on, its beginning."""

    token: str
    known: bool  # whether it is in the vocabulary; else the score is that of <UNK>
    forward: float
    backward: float | None

    @property
    def surprisal(self) -> float:
        """In bits, the mean of the directions."""
        each = [self.forward] if self.backward is None else [self.forward, self.backward]
        return -sum(each) / len(each) / math.log(2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Substitute:
    """A word that could stand in a place; `score` is its share among all words of the vocabulary."""

    word: str
    score: float
    forward: float
    backward: float | None


def score_sentences(
    model: LoadedModel, sentences: Sequence[Sequence[str]], *, state: StateMode = "settled", device: str | None = None
) -> list[list[TokenScore]]:
    """The scores of each token of each sentence, and of the sentence's end as the last."""
    _check_state(state)
    chosen = choose_device(device)
    made = language_model(model, device=chosen)
    text = corpus_of_sentences(model, sentences)
    table = text.table.to(chosen)
    R = model.config.lstm.directions
    scores: list[list[TokenScore]] = [[] for _ in sentences]
    for reading in sentence_readings(text.symbols, text.sentences, directions=R):
        losses = reading_losses(made, table, reading, state=state).cpu().numpy()  # [R, T, B]
        for row, number in enumerate(reading.sentences.tolist()):
            scores[number] = _sentence_scores(model, sentences[number], -losses[:, :, row].astype(np.float64))
    return scores


def substitutes(
    model: LoadedModel,
    sentence: Sequence[str],
    position: int,
    *,
    count: int = 10,
    state: StateMode = "settled",
    device: str | None = None,
) -> list[Substitute]:
    """The words that fit best in the place of `sentence[position]`, which itself is not looked at.

    Both directions predict the word from its own side. As if the sides were independent given the word,
    p(word | left, right) ~ p(word | left) p(word | right) / p(word), with p(word) from its rank in the vocabulary.
    """
    _check_state(state)
    if not 0 <= position < len(sentence):
        raise InputError(f"position is {position}, but the sentence has the positions 0 to {len(sentence) - 1}")
    chosen = choose_device(device)
    made = language_model(model, device=chosen)
    text = corpus_of_sentences(model, [sentence])
    (reading,) = sentence_readings(text.symbols, text.sentences, directions=model.config.lstm.directions)
    hidden = torch.cat([h for _, h in hidden_windows(made, text.table.to(chosen), reading, state=state)], dim=1)
    places = [position, len(sentence) - 1 - position]  # each direction counts from its own end
    each = [made.head.log_probabilities(hidden[r, places[r]]).cpu()[0] for r in range(len(hidden))]  # [V] each
    combined = combine(each)
    best = combined.topk(min(count, len(combined) - len(SPECIALS)))
    assert model.vocabulary is not None
    return [
        Substitute(
            word=model.vocabulary.words[word],
            score=math.exp(value),
            forward=float(each[0][word]),
            backward=float(each[1][word]) if len(each) == 2 else None,
        )
        for value, word in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]


def combine(directions: Sequence[Tensor]) -> Tensor:
    """Log-probabilities [V] of each direction to one distribution over words, specials left out."""
    total = torch.stack(list(directions)).double().sum(0)  # [V]
    if len(directions) == 2:
        total -= torch.log(torch.log1p(1 / (torch.arange(len(total), dtype=torch.float64) + 1)))
    total[: len(SPECIALS)] = -math.inf
    return torch.log_softmax(total, dim=0)


def _sentence_scores(model: LoadedModel, sentence: Sequence[str], values: np.ndarray) -> list[TokenScore]:
    assert model.vocabulary is not None
    n = len(sentence)
    forward = values[0, : n + 1]
    # The backward direction predicts the last word first, and at the end the beginning of the sentence.
    backward = [None] * (n + 1) if len(values) == 1 else [*values[1, :n][::-1].tolist(), float(values[1, n])]
    known = [word in model.vocabulary for word in sentence]
    return [
        TokenScore(token=token, known=is_known, forward=float(f), backward=b)
        for token, is_known, f, b in zip([*sentence, END_SENTENCE], [*known, True], forward, backward, strict=True)
    ]


def _check_state(state: StateMode) -> None:
    if state == "carry":
        raise InputError(
            "scores are of single sentences, so state='carry' has no meaning here; use 'settled' or 'zero'"
        )

"""Perplexity: how well a model predicts a text, exactly, over its whole vocabulary and in both directions.

A loss over samples is a tool of training and is never called by this name. Every word and every end of a sentence is
predicted once in each direction; a word outside the vocabulary counts as the one class <UNK>.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from elmo.corpus.layout import SEPARATOR, Ints, Split
from elmo.corpus.store import CorpusStore
from elmo.errors import ConfigError, InputError
from elmo.lm.languagemodel import LanguageModel, language_model
from elmo.lm.reading import Reading, carried_reading, part_of, sentence_readings
from elmo.lm.textcorpus import corpus_of_sentences
from elmo.lm.typetable import TypeTable, type_table_for
from elmo.model.choices import StateMode
from elmo.model.state import State
from elmo.ops.cpu.allocator import keep_freed_memory
from elmo.ops.device import choose_device
from elmo.text.vocabulary import UNKNOWN_ID
from elmo.weights.loaded import LoadedModel

MOST_LOSS = 690.0  # its exponential is still a number
WINDOW = 64  # steps at once, so that a long row needs no more memory than a short one


@dataclass(frozen=True, kw_only=True)
class Perplexity:
    """Of one text. `average` is of both directions: exp of the mean of their losses. [bilm-tf training.py, test()]"""

    forward: float
    backward: float | None
    average: float
    symbols: int  # words and ends of sentences, each predicted once in a direction
    words: int
    unknown: int  # words outside the vocabulary
    state: StateMode

    @property
    def unknown_rate(self) -> float:
        """The share of words outside the vocabulary."""
        return self.unknown / max(1, self.words)


def measure_perplexity(
    model: LanguageModel,
    table: TypeTable,
    symbols: Ints,
    sentences: Ints,
    *,
    state: StateMode = "carry",
    symbol_count: int | None = None,
    start: State | None = None,
) -> Perplexity:
    """Of a split of a corpus store, or of about `symbol_count` symbols spread over it.

    `carry` reads a continuous text as in training, in some rows that begin with zero or with the rows of `start`;
    `settled` and `zero` start each sentence from that state.
    """
    if table.rows.device.type == "cpu":
        keep_freed_memory()
    symbols, sentences = part_of(symbols, sentences, symbol_count=symbol_count)
    if len(symbols) == 0:
        raise InputError("there is no text to measure perplexity on: it has no sentences")
    R = model.bilm.config.lstm.directions
    readings = (
        [carried_reading(symbols, directions=R)]
        if state == "carry"
        else sentence_readings(symbols, sentences, directions=R)
    )
    sums = torch.zeros(R, dtype=torch.float64)
    for reading in readings:
        losses = reading_losses(model, table, reading, state=state, start=start)
        sums += losses.double().sum((1, 2)).cpu()
    return summarize(sums / len(symbols), table, symbols, state=state)


def text_perplexity(
    model: LoadedModel,
    sentences: Iterable[Sequence[str]],
    *,
    state: StateMode = "settled",
    device: str | None = None,
) -> Perplexity:
    """Of tokenized sentences under a loaded model that has a softmax and a vocabulary."""
    chosen = choose_device(device)
    made = language_model(model, device=chosen)
    text = corpus_of_sentences(model, sentences)
    return measure_perplexity(made, text.table.to(chosen), text.symbols, text.sentences, state=state)


def store_perplexity(
    model: LoadedModel,
    store: CorpusStore,
    *,
    split: Split = "heldout",
    state: StateMode = "settled",
    symbol_count: int | None = None,
    device: str | None = None,
) -> Perplexity:
    """Of a split of a corpus store; words are looked up in the model's own vocabulary."""
    chosen = choose_device(device)
    made = language_model(model, device=chosen)
    store.require_known_types()
    table = type_table_for(model, store).to(chosen)
    return measure_perplexity(
        made, table, store.symbols(split), store.sentences(split), state=state, symbol_count=symbol_count
    )


@torch.no_grad()
def reading_losses(
    model: LanguageModel, table: TypeTable, reading: Reading, *, state: StateMode, start: State | None = None
) -> Tensor:
    """The exact loss of each position [R, T, B]; zero where there is nothing."""
    device = table.rows.device
    targets = table.target_ids(torch.from_numpy(reading.targets).to(device))  # [R, T, B]
    alive = torch.from_numpy(reading.alive).to(device)  # [T, B]
    losses = torch.zeros(targets.shape, device=device)
    for first, hidden in hidden_windows(model, table, reading, state=state, start=start):
        own = slice(first, first + hidden.shape[1])
        here = alive[own]  # [window, B]; a softmax over the whole vocabulary is too dear to compute for nothing
        flat = model.head.losses(hidden[:, here].flatten(0, 1), targets[:, own][:, here].flatten())
        losses[:, own][:, here] = flat.view(len(losses), -1)
    return losses


@torch.no_grad()
def hidden_windows(
    model: LanguageModel, table: TypeTable, reading: Reading, *, state: StateMode, start: State | None = None
) -> Iterator[tuple[int, Tensor]]:
    """What the softmax reads, window by window: the first step of each, and [R, window, B, P]."""
    symbols = table.input_symbols(torch.from_numpy(reading.inputs).to(table.rows.device))  # [R, T, B]
    distinct, inverse = torch.unique(symbols, return_inverse=True)
    vectors = model.bilm.tokens(table.rows[distinct])  # [U, D]
    B = symbols.shape[2]
    if start is None:
        carried = start_state(model, B, mode=state)
    else:
        carried = start.rows(torch.arange(B, device=start.h.device) % start.h.shape[2])
    for first in range(0, symbols.shape[1], WINDOW):
        outputs, carried = model.bilm.lstm(F.embedding(inverse[:, first : first + WINDOW], vectors), carried)
        yield first, outputs[-1]


def start_state(model: LanguageModel, rows: int, *, mode: StateMode) -> State:
    """The state before the first symbol of each row."""
    if mode == "settled":
        return model.bilm.settled_state(rows)
    if mode in ("zero", "carry"):
        return model.bilm.zero_state(rows)
    raise ConfigError(f"state is {mode!r}; it must be 'settled', 'zero' or 'carry'")


def summarize(means: Tensor, table: TypeTable, symbols: Ints, *, state: StateMode) -> Perplexity:
    """From the mean loss of each direction [R]."""
    words = np.asarray(symbols)[np.asarray(symbols) != SEPARATOR]
    unknown = int((table.targets.cpu().numpy()[words] == UNKNOWN_ID).sum())
    each = [_exp(mean) for mean in means.tolist()]
    return Perplexity(
        forward=each[0],
        backward=each[1] if len(each) == 2 else None,
        average=_exp(float(means.mean())),
        symbols=len(symbols),
        words=len(words),
        unknown=unknown,
        state=state,
    )


def _exp(loss: float) -> float:
    """Never infinite and never NaN: the result goes into files whose numbers are finite."""
    return math.exp(loss if loss < MOST_LOSS else MOST_LOSS)

"""An estimate of the memory that a training needs, by part, before it starts.

Parameters and gradients are exact; the optimizer is counted as Adam's, the largest. Activations follow from what the
backward pass keeps, with the number of distinct words in a step taken from measured text; the whole is meant to be
right within a factor of 1.5 on a CPU. On a GPU the kernels keep less (logits once, in bf16; gates in bf16), so there it
is an upper bound.
"""

import math
from dataclasses import dataclass

from elmo.pretrain.data.streams import MEMORY_BUDGET
from elmo.pretrain.plan import Plan
from elmo.weights.tensors import tensor_shapes

FLOAT = 4
COLUMNS = 26  # of a character row that are computed: the longest word of a step and the widest filter
# Distinct words in a step of p positions, both directions: about 5.6 k of 20,480 and 9.1 k of 40,960 in English text.
DISTINCT_FACTOR, DISTINCT_POWER = 5.3, 0.70


@dataclass(frozen=True, kw_only=True)
class MemoryEstimate:
    """Bytes by part, for one process."""

    parameters: int
    gradients: int
    optimizer: int
    characters: int  # activations of the token encoder
    lstm: int  # activations of the LSTM layers
    softmax: int  # activations of the loss
    corpus: int  # type table and reading order

    @property
    def total(self) -> int:
        """All parts together."""
        return sum(vars(self).values())


def estimate_memory(plan: Plan, *, vocabulary: int, types: int, symbols: int, world: int = 1) -> MemoryEstimate:
    """For a corpus of `types` distinct words and `symbols` words and sentence ends."""
    config = plan.config
    model = config.architecture
    P, R = model.lstm.output_dim, model.lstm.directions
    shapes = tensor_shapes(model).values()
    numbers = sum(math.prod(shape) for shape in shapes) + config.loss.head_numbers(vocabulary=vocabulary, size=P)
    rows = -(-plan.batch_size // (world * config.accumulate))
    positions = R * config.window * rows
    classes = plan.samples or vocabulary
    logits = positions * classes if plan.samples is not None else min(positions * classes, 1 << 24)
    laid_out = FLOAT * R * symbols
    return MemoryEstimate(
        parameters=FLOAT * numbers,
        gradients=FLOAT * numbers,
        optimizer=FLOAT * numbers * 2,  # Adam's two moments; Adagrad's accumulator or Muon's momentum, and temporaries
        characters=FLOAT * model.tokens.training_numbers(distinct_words(positions, types), columns=COLUMNS),
        # Four gates before and after their functions, the cell before and after its clip and its tanh, outputs.
        lstm=FLOAT * positions * model.lstm.layers * (12 * model.lstm.cell_dim + 6 * P),
        softmax=FLOAT * (4 * logits + 2 * positions * P),
        corpus=types * 108 + (laid_out if laid_out <= MEMORY_BUDGET else 0),
    )


def distinct_words(positions: int, types: int) -> int:
    """About how many different words a step has."""
    return min(types, positions, int(DISTINCT_FACTOR * positions**DISTINCT_POWER))

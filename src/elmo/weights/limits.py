"""The largest model that is read. Far above any ELMo; it stops a few bytes of JSON from asking for a terabyte."""

import math
from collections.abc import Iterable

from elmo.errors import WeightsError
from elmo.model.bilm import BiLMConfig
from elmo.model.wordtable import WordTableConfig

MOST_LAYERS = 64
MOST_HIGHWAYS = 64
MOST_FILTER_WIDTHS = 256
MOST_CHARACTERS_IN_ROW = 4096
MOST_DIM = 1 << 20
MOST_VALUES = 1 << 33  # 32 GiB in fp32; the largest published model has 94 million


def check_sizes(config: BiLMConfig, *, where: str) -> None:
    """Refuse an architecture beyond all reason before anything is built from it."""
    found: dict[str, tuple[int, int]] = {
        "lstm.layers": (config.lstm.layers, MOST_LAYERS),
        "lstm.cell_dim": (config.lstm.cell_dim, MOST_DIM),
        "lstm.input_dim": (config.lstm.input_dim, MOST_DIM),
    }
    if not isinstance(config.tokens, WordTableConfig):
        found |= {
            "tokens.highways": (config.tokens.highways, MOST_HIGHWAYS),
            "tokens.filters": (len(config.tokens.filters), MOST_FILTER_WIDTHS),
            "tokens.embedding_dim": (config.tokens.embedding_dim, MOST_DIM),
            "tokens.characters": (config.tokens.characters, MOST_CHARACTERS_IN_ROW),
            "the sum of tokens.filters": (config.tokens.filter_count, MOST_DIM),
        }
    for name, (value, most) in found.items():
        if value > most:
            raise WeightsError(f"{where}: {name} is {value:,}, but at most {most:,} is read")


def check_values(shapes: Iterable[tuple[int, ...]], *, where: str) -> None:
    """Refuse tensors that together hold more numbers than any model read here."""
    total = sum(math.prod(shape) for shape in shapes)
    if total > MOST_VALUES:
        raise WeightsError(f"{where}: the model has {total:,} numbers, but at most {MOST_VALUES:,} are read")

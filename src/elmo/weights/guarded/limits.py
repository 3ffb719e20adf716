"""The largest model that is read. Far above any ELMo; it stops a few bytes of JSON from asking for a terabyte."""

import math
from collections.abc import Iterable

from elmo.errors import WeightsError
from elmo.model.architecture import BiLMConfig

MOST_FILTER_WIDTHS = 256
MOST_DIM = 1 << 20
MOST_CLIP = 60_000  # float16 ends at 65,504; published models clip at 3
MOST = {"layers": 64, "highways": 64, "characters": 4096, "words": 1 << 28}  # what is not a dimension
MOST_VALUES = 1 << 33  # 32 GiB in fp32; the largest published model has 94 million


def check_sizes(config: BiLMConfig, *, where: str) -> None:
    """Refuse an architecture beyond all reason before anything is built from it."""
    for part, values in config.to_dict().items():
        for name, value in values.items():
            if name == "filters":
                most = MOST_FILTER_WIDTHS
                if len(value) > most:
                    raise WeightsError(
                        f"{where}: {part}.filters has {len(value):,} widths, but at most {most} are read"
                    )
                value = sum(count for _, count in value)
            most = MOST_CLIP if isinstance(value, float) else MOST.get(name, MOST_DIM)
            if isinstance(value, int | float) and value > most:
                raise WeightsError(f"{where}: {part}.{name} is {value:,}, but at most {most:,} is read")


def check_values(shapes: Iterable[tuple[int, ...]], *, where: str) -> None:
    """Refuse tensors that together hold more numbers than any model read here."""
    total = sum(math.prod(shape) for shape in shapes)
    if total > MOST_VALUES:
        raise WeightsError(f"{where}: the model has {total:,} numbers, but at most {MOST_VALUES:,} are read")

"""What a bulk job computes for each line of its input."""

from dataclasses import dataclass

from elmo.embed.choices import Layers, Pooling, StoredDtype
from elmo.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class BulkOptions:
    """What to compute for each line of the input.

    `tokenized`: lines hold tokens with white space between; otherwise they are raw text for the model's tokenizer.
    `split_sentences`: a raw line may have several sentences, embedded one by one; otherwise each line is one.
    """

    layers: Layers = "mean"
    pooling: Pooling | None = None
    tokenized: bool = False
    split_sentences: bool = True
    batch_size: int | None = None  # see `Embedder.encode`
    dtype: StoredDtype = "float32"

    def __post_init__(self) -> None:
        if self.batch_size is not None and self.batch_size < 1:
            raise ConfigError(f"batch_size is {self.batch_size}; it must be at least 1")
        if self.dtype not in ("float32", "float16"):
            raise ConfigError(f"dtype is {self.dtype!r}; vectors are stored as float32 or float16")

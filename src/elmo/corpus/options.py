"""What the user may choose about a corpus store, checked once. Only what decides its content; workers are elsewhere."""

from dataclasses import dataclass
from typing import Any, get_args

from elmo.corpus.block import Documents
from elmo.errors import ConfigError
from elmo.text.tokenizer import Tokenizer
from elmo.text.wrapped import Lines

# The vocabulary of the original model: words seen three times or more. [Chelba et al. 2013, section 2; bilm-tf]
DEFAULT_MIN_COUNT = 3
DEFAULT_VOCABULARY_SIZE = 800_000

LARGEST_FRACTION = 0.5


@dataclass(frozen=True, kw_only=True)
class VocabularyLimits:
    """How many words the vocabulary takes, from the most frequent on; every limit that is given holds."""

    size: int | None = None
    """Entries at most, the three special ones among them."""
    min_count: int | None = None
    """Occurrences in the training split that a word needs."""
    coverage: float | None = None
    """No more words than are needed for this share of the training split."""

    def __post_init__(self) -> None:
        if self.size is not None and self.size < 4:
            raise ConfigError(f"vocabulary_size is {self.size}, but it must be at least 4: three special words and one")
        if self.min_count is not None and self.min_count < 1:
            raise ConfigError(f"min_count is {self.min_count}, but it must be at least 1")
        if self.coverage is not None and not 0 < self.coverage <= 1:
            raise ConfigError(f"coverage is {self.coverage}, but it must be above 0 and at most 1, such as 0.98")

    @property
    def any_given(self) -> bool:
        return not (self.size is None and self.min_count is None and self.coverage is None)


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """Everything but the text that decides what a store holds."""

    tokenizer: Tokenizer
    tokenized: bool
    lines: Lines
    documents: Documents
    vocabulary: VocabularyLimits
    heldout_fraction: float
    heldout_max_tokens: int
    seed: int

    def __post_init__(self) -> None:
        if self.documents not in get_args(Documents):
            allowed = ", ".join(map(repr, get_args(Documents)))
            raise ConfigError(f"documents is {self.documents!r}, but it must be one of {allowed}")
        if self.lines not in get_args(Lines):
            allowed = ", ".join(map(repr, get_args(Lines)))
            raise ConfigError(f"lines is {self.lines!r}, but it must be one of {allowed}")
        if self.lines == "wrapped" and (self.tokenized or self.tokenizer.language is None):
            raise ConfigError("lines is 'wrapped', but each line is a sentence of this text; leave one of the two out")
        if not 0 <= self.heldout_fraction <= LARGEST_FRACTION:
            raise ConfigError(
                f"heldout is {self.heldout_fraction}, but it must be a fraction from 0 to {LARGEST_FRACTION}, or files"
            )
        if self.heldout_max_tokens < 1:
            raise ConfigError(f"heldout_max_tokens is {self.heldout_max_tokens}, but it must be at least 1")
        if not 0 <= self.seed < 1 << 64:
            raise ConfigError(f"seed is {self.seed}, but it must be from 0 to 2^64 - 1")

    def to_dict(self) -> dict[str, Any]:
        """What `corpus.json` holds."""
        return {
            "tokenized": self.tokenized,
            "lines": self.lines,
            "documents": self.documents,
            "vocabulary_size": self.vocabulary.size,
            "min_count": self.vocabulary.min_count,
            "coverage": self.vocabulary.coverage,
            "heldout_fraction": self.heldout_fraction,
            "heldout_max_tokens": self.heldout_max_tokens,
        }

"""Raw text to sentences to tokens with their places in the text. The rule is a value that a model's config.json holds.

Three rules:
- `treebank`: Penn Treebank English, what PTB, SST, SNLI and the NER and SRL data use: "do n't", "$ 5", "( a )",
  hyphenated words whole. Quotation marks stay the characters they are (never `` or ''), so that offsets hold.
- `unicode`: words by UAX #29, for every other language; ideographs one by one.
- `whitespace`: text that is tokenized already, split as `str.split()` does and as bilm-tf did.

A token is spelled as the text has it, but for apostrophes: `treebank` and `unicode` give `'` for `’` (`apostrophes`).
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

from elmo.errors import ConfigError
from elmo.text import treebank, unicode_words, whitespace
from elmo.text.sentences import Span, split_lines, split_sentences
from elmo.text.tokens import Tokens


class TokenRule(Protocol):
    """What the module of a rule has."""

    def tokenize(self, text: str, *, shift: int = 0) -> Tokens:
        """The tokens of one sentence, their starts moved by `shift`."""

    def words(self, text: str) -> list[str]:
        """The same tokens without their places, faster."""


# The only place that names the rules: models, corpora, tasks and the command line take them from here.
Rule = Literal["treebank", "unicode", "whitespace"]
RULES: dict[Rule, TokenRule] = {"treebank": treebank, "unicode": unicode_words, "whitespace": whitespace}

# The shape of a BCP 47 tag, as far as it matters here: a language, then whatever narrows it down.
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """How text becomes tokens. `language` says how sentences are found; None means that each line is one sentence."""

    rule: Rule = "treebank"
    language: str | None = "en"

    def __post_init__(self) -> None:
        if self.rule not in tuple(RULES):  # what a file holds may be a list, which no dict looks up
            allowed = ", ".join(map(repr, RULES))
            raise ConfigError(f"tokenizer rule is {self.rule!r}, but it must be one of {allowed}")
        if self.language is not None and not (isinstance(self.language, str) and _LANGUAGE.fullmatch(self.language)):
            raise ConfigError(
                f"tokenizer language is {self.language!r}, but it must be a code such as 'en', 'de' or 'pt-BR', "
                "or null for text with one sentence a line"
            )

    def tokenize(self, text: str) -> Tokens:
        """The tokens of `text`, taken as one sentence. Each token is `text[start:end]`, but for apostrophes."""
        return RULES[self.rule].tokenize(text)

    def split_sentences(self, text: str) -> list[Span]:
        """The sentences of `text`, as (start, end), without the white space between them."""
        return split_lines(text) if self.language is None else split_sentences(text, self.language)

    def sentences(self, text: str) -> list[Tokens]:
        """The tokens of each sentence of `text`; starts and offsets count from the beginning of `text`."""
        tokenize = RULES[self.rule].tokenize
        return [tokenize(text[start:end], shift=start) for start, end in self.split_sentences(text)]

    def sentence_words(self, text: str) -> list[list[str]]:
        """The words alone of each sentence of `text`: the same as in `sentences`, faster."""
        words = RULES[self.rule].words
        return [words(text[start:end]) for start, end in self.split_sentences(text)]

    def to_dict(self) -> dict[str, Any]:
        """What config.json holds."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Tokenizer":
        """The tokenizer that `to_dict` described; unknown keys and values raise ConfigError."""
        if not isinstance(values, Mapping):
            raise ConfigError(f"tokenizer is {values!r}, but it must be an object with 'rule' and 'language'")
        unknown = sorted(map(str, values.keys() - {"rule", "language"}))
        if unknown:
            raise ConfigError(f"tokenizer has the unknown key {unknown[0]!r}; known are 'rule' and 'language'")
        return cls(**values)

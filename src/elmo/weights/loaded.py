"""`LoadedModel`: what every reader returns and every writer takes, whatever the format."""

import dataclasses
import functools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self, overload

import torch
from torch import Tensor

from elmo.errors import ConfigError, WeightsError
from elmo.model.bilm import BiLM, BiLMConfig
from elmo.model.settled import settle
from elmo.model.tokens import Rows, Spelling
from elmo.text.codepoints import Dictionaries
from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import UnreadVocabulary, Vocabulary
from elmo.weights.tensors import content_sha256


class Softmax(NamedTuple):
    """The output layer of the language model, shared by both directions."""

    weight: Tensor  # [V, D]
    bias: Tensor  # [V]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Training:
    """What a model has been trained on, as far as it is recorded."""

    tokens: int | None = None  # words and sentence ends read in each direction, over all of its runs
    started_from: str | None = None  # the hash of the model that its last run began with

    def __post_init__(self) -> None:
        if self.tokens is not None and self.tokens < 0:
            raise ConfigError(f"training.tokens is {self.tokens}; it must be 0 or more")


class _VocabularyField:
    """The field `vocabulary` of a model: given as a `Vocabulary`, or unread and then read when it is first asked for.

    Two threads that ask at once may both read; the values are equal, and the last one stays.
    """

    @overload
    def __get__(self, model: None, owner: type["LoadedModel"]) -> None: ...

    @overload
    def __get__(self, model: "LoadedModel", owner: type["LoadedModel"]) -> Vocabulary | None: ...

    def __get__(self, model: "LoadedModel | None", owner: type["LoadedModel"]) -> Vocabulary | None:
        if model is None:
            return None  # the default
        vocabulary: Vocabulary | UnreadVocabulary | None = vars(model)["_vocabulary"]
        if isinstance(vocabulary, UnreadVocabulary):
            vocabulary = vocabulary.read()
            model._check_words(len(vocabulary))
            vars(model)["_vocabulary"] = vocabulary
        return vocabulary

    def __set__(self, model: "LoadedModel", value: Vocabulary | UnreadVocabulary | None) -> None:
        vars(model)["_vocabulary"] = value


@dataclasses.dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """A biLM with all that is needed to feed it. A value; only `settle` changes what `bilm` holds.

    `vocabulary` may be given unread: embedding from characters never uses it. Then WeightsError comes from the first
    use, if the file holds none or one that does not fit.
    """

    bilm: BiLM
    tokenizer: Tokenizer
    vocabulary: _VocabularyField = _VocabularyField()
    dictionaries: Dictionaries | None = None  # of models from ELMoForManyLangs
    softmax: Softmax | None = None
    card: str | None = None
    training: Training | None = None
    format: str = "memory"  # how it was stored: the name of one of `elmo.weights.formats.FORMATS`
    source: str | None = None  # where it was read from

    def __post_init__(self) -> None:
        unread = isinstance(vars(self)["_vocabulary"], UnreadVocabulary)
        self._check_words(None if unread or self.vocabulary is None else len(self.vocabulary))
        _ = self._spelling  # what it needs must be there

    def _check_words(self, words: int | None) -> None:
        """Whether the softmax fits the biLM and a vocabulary of so many words (None: not known)."""
        if self.softmax is None:
            return
        V, D = self.softmax.weight.shape
        if self.config.lstm.output_dim != D or self.softmax.bias.shape != (V,) or words not in (None, V):
            raise WeightsError(
                f"{self.source or 'model'}: softmax.weight is {[V, D]} and softmax.bias "
                f"{list(self.softmax.bias.shape)}, but {[words or V, self.config.lstm.output_dim]} and {[words or V]} "
                "are wanted"
            )

    def replace(self, **changes: Any) -> Self:
        """The same model with other values for some fields. `dataclasses.replace` would read the vocabulary."""
        return dataclasses.replace(self, **{"vocabulary": vars(self)["_vocabulary"], **changes})

    @property
    def config(self) -> BiLMConfig:
        """The architecture."""
        return self.bilm.config

    @functools.cached_property
    def _spelling(self) -> Spelling:
        tokens = self.config.tokens
        try:
            return tokens.spelling(self.vocabulary if tokens.reads_words else None, self.dictionaries)
        except ConfigError as error:
            raise WeightsError(f"{self.source or 'model'}: {error}") from None

    def spell(self, words: Sequence[str]) -> Rows:
        """Each word as the row of ids that `bilm.tokens` reads: [W, C], whatever the model's scheme."""
        return self._spelling.spell(words)

    def spell_as_originals(self, words: Sequence[str]) -> Rows:
        """The same, but where the originals take the words `<S>` and `</S>` for the boundary tokens, so does this."""
        return self._spelling.spell_as_originals(words)

    def boundary_rows(self) -> Rows:
        """The rows of the begin-sentence and the end-sentence token: [2, C]."""
        return self._spelling.boundary_rows()

    def cut_words(self, words: Iterable[str]) -> list[str]:
        """Those that are longer than the model reads, so that two of them may get one vector."""
        return self._spelling.cut_words(words)

    @torch.no_grad()
    def settle(self) -> int:
        """Compute and store the settled state; says how many tokens it took. See `model.settled`."""
        rows = torch.from_numpy(self.boundary_rows()).to(self.bilm.settled_h.device)
        return settle(self.bilm, self.bilm.tokens(rows))

    @property
    def is_settled(self) -> bool:
        """Whether a settled state is stored; zeros stand for none."""
        return bool(self.bilm.settled_h.any())

    @property
    def parameter_count(self) -> int:
        """Numbers in the biLM, without the softmax."""
        return sum(parameter.numel() for parameter in self.bilm.parameters())

    @functools.cached_property
    def sha256(self) -> str:
        """The hash of the biLM's numbers when first asked for: equal for equal models in any format."""
        return content_sha256(self.bilm.state_dict())

"""`LoadedModel`: what every reader returns and every writer takes, whatever the format."""

import dataclasses
import functools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from elmo.errors import WeightsError
from elmo.model.bilm import BiLM, BiLMConfig
from elmo.model.charcnn import CharCNNConfig
from elmo.model.manylangs import ManyLangsConfig
from elmo.model.settled import settle
from elmo.model.wordtable import WordTableConfig
from elmo.text import chars
from elmo.text.codepoints import Dictionaries
from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import BEGIN_SENTENCE_ID, END_SENTENCE_ID, Vocabulary
from elmo.weights.tensors import content_sha256

Rows = npt.NDArray[np.integer]


class Softmax(NamedTuple):
    """The output layer of the language model, shared by both directions."""

    weight: Tensor  # [V, D]
    bias: Tensor  # [V]


@dataclasses.dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """A biLM with all that is needed to feed it. A value; only `settle` changes what `bilm` holds."""

    bilm: BiLM
    tokenizer: Tokenizer
    vocabulary: Vocabulary | None = None
    dictionaries: Dictionaries | None = None  # of models from ELMoForManyLangs
    softmax: Softmax | None = None
    card: str | None = None
    format: str = "memory"  # how it was stored: a name of `elmo.weights.formats.FORMATS`
    source: str | None = None  # where it was read from

    def __post_init__(self) -> None:
        where = self.source or "model"
        words = None if self.vocabulary is None else len(self.vocabulary)
        tokens = self.config.tokens
        if isinstance(tokens, ManyLangsConfig):
            _check_dictionaries(self.dictionaries, tokens, where=where)
        elif isinstance(tokens, WordTableConfig):
            if words is None:
                raise WeightsError(f"{where}: a model that reads word ids needs its vocabulary")
            if words != tokens.words:
                raise WeightsError(
                    f"{where}: the vocabulary has {words:,} words, but {tokens.words:,} are wanted, "
                    "one for each row of the word vectors"
                )
        if self.softmax is not None:
            V, D = self.softmax.weight.shape
            if self.config.lstm.output_dim != D or self.softmax.bias.shape != (V,) or words not in (None, V):
                raise WeightsError(
                    f"{where}: softmax.weight is {[V, D]} and softmax.bias {list(self.softmax.bias.shape)}, but "
                    f"{[words or V, self.config.lstm.output_dim]} and {[words or V]} are wanted"
                )

    @property
    def config(self) -> BiLMConfig:
        """The architecture."""
        return self.bilm.config

    def spell(self, words: Sequence[str]) -> Rows:
        """Each word as the row of ids that `bilm.tokens` reads: [W, C], whatever the model's scheme."""
        tokens = self.config.tokens
        if isinstance(tokens, CharCNNConfig):
            return chars.spell(words, characters=tokens.characters)
        if self.dictionaries is not None:
            return self.dictionaries.spell(words)
        assert self.vocabulary is not None
        return self.vocabulary.ids_of(words)[:, None] + 1  # [W, 1]

    def boundary_rows(self) -> Rows:
        """The rows of the begin-sentence and the end-sentence token: [2, C]."""
        tokens = self.config.tokens
        if isinstance(tokens, CharCNNConfig):
            return chars.boundary_rows(characters=tokens.characters)
        if self.dictionaries is not None:
            return self.dictionaries.boundary_rows()
        return np.array([[BEGIN_SENTENCE_ID + 1], [END_SENTENCE_ID + 1]])

    def cut_words(self, words: Iterable[str]) -> list[str]:
        """Those that are longer than the model reads, so that two of them may get one vector."""
        tokens = self.config.tokens
        if isinstance(tokens, CharCNNConfig):
            # A character has four bytes at most, so that most words need no second look.
            safe = (tokens.characters - 2) // 4
            return [w for w in words if len(w) > safe and chars.is_cut(w, characters=tokens.characters)]
        return [] if self.dictionaries is None else [w for w in words if self.dictionaries.is_cut(w)]

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


def _check_dictionaries(dictionaries: Dictionaries | None, tokens: ManyLangsConfig, *, where: str) -> None:
    """Every id must have its row."""
    if dictionaries is None:
        raise WeightsError(f"{where}: a model that reads words by dictionary needs its dictionaries")
    for name, ids, rows in (
        ("word", dictionaries.words, tokens.words),
        ("character", dictionaries.characters, tokens.alphabet),
    ):
        if (ids is None) != (rows == 0) or (ids and max(ids.values()) >= rows):
            raise WeightsError(f"{where}: the {name} dictionary does not fit a table of {rows:,} rows")
    if dictionaries.characters_in_row != tokens.characters:
        raise WeightsError(
            f"{where}: rows have {dictionaries.characters_in_row} characters, but {tokens.characters} are wanted"
        )

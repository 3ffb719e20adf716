"""`LoadedModel`: what every reader returns and every writer takes, whatever the format."""

import dataclasses
import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, overload

from elmo.errors import ConfigError, InputError, WeightsError
from elmo.model.architecture import BiLMConfig
from elmo.model.kinds import Rows, Spelling
from elmo.model.settled import find_settled, settle_there
from elmo.ops.threadlock import ThreadLock
from elmo.text.codepoints import Dictionaries
from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import UnreadVocabulary, Vocabulary
from elmo.weights.arrays import BiLMArrays
from elmo.weights.guarded.arrayfile import Numbers
from elmo.weights.softmax import Softmax, SoftmaxApart, SoftmaxArrays, StoredSoftmax
from elmo.weights.tensors import content_sha256

if TYPE_CHECKING:
    from elmo.model.bilm import BiLM

_LOCK = ThreadLock()  # threads that ask at once get one network


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


class _SoftmaxField:
    """The field `softmax` of a model: tensors, or what becomes tensors when it is asked for: no embedding does."""

    @overload
    def __get__(self, model: None, owner: type["LoadedModel"]) -> None: ...

    @overload
    def __get__(self, model: "LoadedModel", owner: type["LoadedModel"]) -> Softmax | None: ...

    def __get__(self, model: "LoadedModel | None", owner: type["LoadedModel"]) -> Softmax | None:
        if model is None:
            return None  # the default
        softmax = vars(model)["_softmax"]
        if isinstance(softmax, SoftmaxApart):
            softmax = softmax.stored(model)
        return softmax.tensors() if isinstance(softmax, StoredSoftmax) else softmax

    def __set__(self, model: "LoadedModel", value: Softmax | StoredSoftmax | SoftmaxApart | None) -> None:
        vars(model)["_softmax"] = value


class _BiLMField:
    """The field `bilm` of a model: torch's network, or arrays of which it is made when it is asked for. Needs torch."""

    @overload
    def __get__(self, model: None, owner: type["LoadedModel"]) -> "BiLM": ...

    @overload
    def __get__(self, model: "LoadedModel", owner: type["LoadedModel"]) -> "BiLM": ...

    def __get__(self, model: "LoadedModel | None", owner: type["LoadedModel"]) -> "BiLM":
        if model is None:
            raise AttributeError("bilm")  # there is no default
        with _LOCK.held():
            bilm: BiLM | BiLMArrays = vars(model)["_bilm"]
            if isinstance(bilm, BiLMArrays):
                bilm = vars(model)["_bilm"] = bilm.build()
        return bilm

    def __set__(self, model: "LoadedModel", value: "BiLM | BiLMArrays") -> None:
        vars(model)["_bilm"] = value


@dataclasses.dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """A biLM with all that is needed to feed it. A value; only `settle` changes what it holds.

    A reader gives arrays for `bilm`: embedding on a CPU uses them as they are, and torch's network is made of them, in
    the same memory, when somebody asks for it. From then on that network is what the model is.

    `vocabulary` may be given unread: embedding from characters never uses it. Then WeightsError comes from the first
    use, if the file holds none or one that does not fit.
    """

    bilm: _BiLMField = _BiLMField()
    tokenizer: Tokenizer
    vocabulary: _VocabularyField = _VocabularyField()
    dictionaries: Dictionaries | None = None  # of models from ELMoForManyLangs
    softmax: _SoftmaxField = _SoftmaxField()
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
        softmax: Softmax | StoredSoftmax | SoftmaxApart | None = vars(self)["_softmax"]
        if softmax is None or isinstance(softmax, SoftmaxApart):  # what is apart is checked when it is read
            return
        weight, bias = softmax.shapes if isinstance(softmax, StoredSoftmax) else (tuple(s.shape) for s in softmax)
        V, D = weight
        if self.config.lstm.output_dim != D or bias != (V,) or words not in (None, V):
            raise WeightsError(
                f"{self.source or 'model'}: softmax.weight is {[V, D]} and softmax.bias "
                f"{list(bias)}, but {[words or V, self.config.lstm.output_dim]} and {[words or V]} "
                "are wanted"
            )

    def replace(self, **changes: Any) -> Self:
        """The same model with other values for some fields. `dataclasses.replace` would read what is not read yet."""
        unread = {name: vars(self)[f"_{name}"] for name in ("bilm", "vocabulary", "softmax")}
        return dataclasses.replace(self, **{**unread, **changes})

    @property
    def has_softmax(self) -> bool:
        """Whether there is one, without reading it."""
        return vars(self)["_softmax"] is not None

    @property
    def softmax_apart(self) -> SoftmaxApart | None:
        """The file of a softmax that lies apart."""
        softmax = vars(self)["_softmax"]
        return softmax if isinstance(softmax, SoftmaxApart) else None

    @property
    def softmax_arrays(self) -> SoftmaxArrays | None:
        """The softmax as arrays, without torch."""
        softmax = vars(self)["_softmax"]
        if isinstance(softmax, SoftmaxApart):
            softmax = softmax.stored(self)
        if isinstance(softmax, StoredSoftmax):
            return softmax.arrays()
        return None if softmax is None else SoftmaxArrays.of(softmax)

    @property
    def config(self) -> BiLMConfig:
        """The architecture."""
        config: BiLMConfig = vars(self)["_bilm"].config
        return config

    @property
    def arrays(self) -> BiLMArrays:
        """The weights on the host, without torch where nobody has asked for its network."""
        bilm = vars(self)["_bilm"]
        if isinstance(bilm, BiLMArrays):
            return bilm
        return BiLMArrays.of_network(bilm)

    @property
    def tensors(self) -> Mapping[str, Numbers]:
        """All weights by name, with the settled state."""
        return self.arrays.tensors

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

    def settle(self) -> int:
        """Compute and store the settled state; says how many tokens it took. See `model.settled`."""
        bilm = vars(self)["_bilm"]
        if not isinstance(bilm, BiLMArrays) and bilm.settled_h.device.type != "cpu":
            return settle_there(bilm, self.boundary_rows())
        arrays = self.arrays
        network = arrays.plain()
        state, tokens = find_settled(network, network.tokens(self.boundary_rows()))
        if isinstance(bilm, BiLMArrays):
            vars(self)["_bilm"] = bilm.with_settled(state)
        else:
            for kept, found in zip(arrays.settled, state, strict=True):
                kept[...] = found[:, :, 0]  # the module's own memory
        return tokens

    @property
    def is_settled(self) -> bool:
        """Whether a settled state is stored; zeros stand for none."""
        bilm = vars(self)["_bilm"]
        return bool((bilm.settled.h if isinstance(bilm, BiLMArrays) else bilm.settled_h).any())

    @property
    def parameter_count(self) -> int:
        """Numbers in the biLM, without the softmax."""
        return sum(map(math.prod, self.config.shapes().values()))

    @functools.cached_property
    def sha256(self) -> str:
        """The hash of the biLM's numbers when first asked for: equal for equal models in any format."""
        return content_sha256(self.tensors)


def require_loaded(model: object, *, reader: str) -> None:
    """Refuse a name or a path where a model that was read is wanted; `reader` is the call that takes one."""
    if not isinstance(model, LoadedModel):
        found = f"{model!r:.80} ({type(model).__name__})"
        raise InputError(f"model is {found}, but a model that was read is wanted; {reader} takes a name or a path")

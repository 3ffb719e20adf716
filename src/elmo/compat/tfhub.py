"""TF-Hub's ELMo module: called like it, over any model of this library.

N sentences, T tokens, L layers with the token layer, D size of one direction.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.embed.batches import BOUNDARIES
from elmo.embed.contextualize import contextualize
from elmo.embed.runners import weights_stamp
from elmo.embed.wordcache import WordCache
from elmo.errors import ConfigError, InputError, WeightsError, needing_torch
from elmo.weights.formats import read_model

with needing_torch("elmo.compat.tfhub"):
    import torch
    from torch import Tensor, nn

    from elmo.compat.inference import Inference

LSTM_LAYERS = 2  # the outputs have names for two
SIGNATURES = ("default", "tokens")


class Aggregation(nn.Module):
    """The trainable scalars of the weighted sum: `scaling * sum_j softmax(weights)_j h_j`."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(layers))
        self.scaling = nn.Parameter(torch.ones(()))

    def forward(self, layers: Tensor) -> Tensor:
        """[L, N, T, 2D] -> [N, T, 2D]."""
        return self.scaling * torch.einsum("l,lntd->ntd", torch.softmax(self.weights, dim=0), layers)


class Module(nn.Module):
    """`hub.Module(spec, trainable=...)` for ELMo: text or tokens in, a dictionary of tensors out.

    `spec` is a model that `elmo.load` reads; hub modules themselves are TensorFlow graphs and cannot be read.
    `trainable` lets the four scalars learn; the biLM is fixed, as in the module's second and third version.
    Every call starts from a state of zeros and nothing is kept: a sentence's vectors depend on the sentence alone.
    """

    def __init__(self, spec: str | os.PathLike[str], trainable: bool = False, name: str = "module") -> None:
        super().__init__()
        if "://" in os.fspath(spec):
            raise WeightsError(
                f"{os.fspath(spec)}: a hub module is a TensorFlow graph, which cannot be read here; give a model in "
                "another format, such as AllenNLP's original ELMo, which was trained on the same text"
            )
        self._model = read_model(os.fspath(spec), settle=False)
        self.name = name
        self.bilm = self._model.bilm.requires_grad_(False)
        self._inference = Inference(self.bilm)
        self._cache = WordCache(self._encode, size=self.bilm.config.tokens.output_dim)
        self._stamp: object = None  # of the weights that it belongs to
        if self.bilm.config.lstm.layers != LSTM_LAYERS:
            raise ConfigError(
                f"{os.fspath(spec)}: has {self.bilm.config.lstm.layers} LSTM layers, but the outputs of this module "
                f"are for {LSTM_LAYERS}; use elmo.load"
            )
        self.aggregation = Aggregation(LSTM_LAYERS + 1).requires_grad_(trainable)

    @property
    def signatures(self) -> dict[str, Callable[..., dict[str, Tensor]]]:
        """The signatures as functions, as `hub.load` has them."""
        return {
            "default": lambda text: self(text, signature="default", as_dict=True),
            "tokens": lambda tokens, sequence_len: self(
                {"tokens": tokens, "sequence_len": sequence_len}, signature="tokens", as_dict=True
            ),
        }

    def forward(self, inputs: Any, signature: str | None = None, as_dict: bool | None = None) -> Any:
        """All outputs with `as_dict`, otherwise the output `default`.

        Signature `default`: texts [N], split on spaces. Signature `tokens`: `tokens` [N, T] and `sequence_len` [N], the
        number of tokens that count in each row. Outputs: `word_emb` [N, T, D], `lstm_outputs1` and `lstm_outputs2`
        [N, T, 2D], their weighted sum `elmo` [N, T, 2D], all zero where there is no token; the mean of `elmo` over a
        sentence's tokens, `default` [N, 2D]; and `sequence_len` [N].
        """
        signature = signature or "default"
        if signature not in SIGNATURES:
            raise ConfigError(f"signature is {signature!r}; it must be one of {', '.join(SIGNATURES)}")
        sentences, T = read_texts(inputs) if signature == "default" else read_tokens(inputs)
        outputs = self._outputs(sentences, T)
        return outputs if as_dict else outputs["default"]

    def _outputs(self, sentences: list[list[str]], T: int) -> dict[str, Tensor]:
        device = self.bilm.settled_h.device
        with torch.no_grad():
            boundaries = self._token_vectors(self._model.boundary_rows())
            vectors = self._look_up([word for sentence in sentences for word in sentence])
            counts = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
            layers, steps, _ = contextualize(
                self._inference, vectors, boundaries, counts, self.bilm.zero_state(len(sentences))
            )
        lengths = torch.from_numpy(steps - BOUNDARIES).to(device)
        alive = (torch.arange(T, device=device) < lengths[:, None])[:, :, None]  # [N, T, 1]
        layers = nn.functional.pad(layers[:, :, 1:-1], (0, 0, 0, T + BOUNDARIES - layers.shape[2])) * alive
        mixed = self.aggregation(layers)
        return {
            "word_emb": layers[0, :, :, : self.bilm.config.lstm.output_dim],
            "lstm_outputs1": layers[1],
            "lstm_outputs2": layers[2],
            "elmo": mixed,
            "default": mixed.sum(1) / lengths.clamp(min=1)[:, None],
            "sequence_len": lengths.int(),
        }

    def _look_up(self, words: Sequence[str]) -> Tensor:
        stamp = weights_stamp(self.bilm)
        if stamp != self._stamp:
            self._cache.clear()
            self._stamp = stamp
        vectors = self._cache.look_up(words)
        assert isinstance(vectors, Tensor)
        return vectors

    def _encode(self, words: Sequence[str]) -> Tensor:
        return self._token_vectors(self._model.spell(words))

    def _token_vectors(self, rows: npt.NDArray[np.integer[Any]]) -> Tensor:
        return self._inference.tokens(torch.from_numpy(rows).to(self.bilm.settled_h.device))


def load(handle: str | os.PathLike[str]) -> Module:
    """`hub.load` for ELMo: a module whose `signatures` are called."""
    return Module(handle)


def read_texts(inputs: Any) -> tuple[list[list[str]], int]:
    """Texts as tokens, cut at spaces and nowhere else, and the number of positions."""
    if isinstance(inputs, str | bytes | Mapping):
        raise InputError(f"signature 'default' wants a list of texts, but found {type(inputs).__name__}")
    sentences = [[word for word in _text(text).split(" ") if word] for text in _listed(inputs)]
    return sentences, max(map(len, sentences), default=0)


def read_tokens(inputs: Any) -> tuple[list[list[str]], int]:
    """Padded rows of tokens and their lengths as sentences, and the number of positions."""
    if not isinstance(inputs, Mapping) or set(inputs) != {"tokens", "sequence_len"}:
        raise InputError("signature 'tokens' wants a dictionary with the keys 'tokens' and 'sequence_len'")
    rows = [[_text(token) for token in _listed(row)] for row in _listed(inputs["tokens"])]
    lengths = [int(length) for length in _listed(inputs["sequence_len"])]
    if len(rows) != len(lengths):
        raise InputError(f"there are {len(rows)} rows of tokens, but {len(lengths)} lengths in sequence_len")
    T = max(map(len, rows), default=0)
    for n, (row, length) in enumerate(zip(rows, lengths, strict=True)):
        if len(row) != T:
            raise InputError(f"row {n} has {len(row)} tokens, but another has {T}; fill up with ''")
        if not 0 <= length <= T:
            raise InputError(f"sequence_len[{n}] is {length}, but the row has {T} tokens")
    return [row[:length] for row, length in zip(rows, lengths, strict=True)], T


def _listed(values: Any) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray | Tensor) else list(values)


def _text(value: Any) -> str:
    """A string; TensorFlow's strings are bytes."""
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{value[:40]!r} is not UTF-8") from None
    if not isinstance(value, str):
        raise InputError(f"{value!r} is {type(value).__name__}; a string is wanted")
    return value

"""`Elmo`: the biLM and its learned mixes as a module for task models (the paper's section 3.3).

N sentences, T tokens, C characters in a row, D size of a vector, L layers that are mixed.
"""

import copy
import dataclasses
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict, Unpack

import numpy as np
import numpy.typing as npt
import safetensors.torch
import torch
from torch import Tensor, nn

from elmo.disk.guarded.plainfiles import read_json, refusing
from elmo.disk.writing import write_file
from elmo.embed.contextualize import LookUpWords, contextualize
from elmo.embed.inputs import check_tokens
from elmo.embed.runners import packed_copy, weights_stamp
from elmo.embed.wordcache import WordCache
from elmo.embed.wordrows import word_vectors
from elmo.errors import ConfigError, InputError, WeightsError
from elmo.model.bilm import BiLM
from elmo.model.fields import read_fields
from elmo.model.frozen import frozen_copy
from elmo.model.mix import LayerNorm, ScalarMix
from elmo.model.packed import PackedBiLM
from elmo.ops.arrays import Array, host
from elmo.ops.threadlock import ThreadLock
from elmo.weights.formats import read_model, write_model
from elmo.weights.guarded.tensorfile import read_tensors
from elmo.weights.loaded import LoadedModel, require_loaded
from elmo.weights.published.hub import PREFIX
from elmo.weights.published.packaged import DEFAULT

OPTIONS_FILE = "elmo.json"
MIXES_FILE = "elmo.safetensors"
MOST_MIXES = 1000  # far more than a task model can use


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Options:
    """What `save_pretrained` writes into `elmo.json`; the meaning is the class's."""

    mixes: int = 1
    mixed_layers: Literal["all", "top"] = "all"
    dropout: float = 0.5
    layer_norm: LayerNorm = False
    mix_l2: float = 0.0
    train_bilm: bool = False
    keep_boundaries: bool = False
    state: Literal["settled", "zero"] = "settled"
    save_bilm: bool = True


class ElmoOutput(NamedTuple):
    """What a task model gets: one tensor for each mix, and where the tokens are."""

    representations: list[Tensor]  # each [N, T, D]
    mask: Tensor  # [N, T], true where there is a token


class ElmoOptions(TypedDict, total=False):
    """The options of `Elmo`, for those who pass them on."""

    mixes: int
    mixed_layers: Literal["all", "top"]
    dropout: float
    layer_norm: LayerNorm
    mix_l2: float
    train_bilm: bool
    keep_boundaries: bool
    state: Literal["settled", "zero"]
    save_bilm: bool


class Elmo(nn.Module):
    """Tokens or character ids in, one contextual vector a token and mix out: `gamma * sum_j softmax(w)_j h_j`.

    `mixes`: how many independent mixes come from the one run (2 for input and output of the task RNN). `mixed_layers`:
    "all" of them, or only the "top" one (which then has a gamma and nothing to mix). `dropout` acts on each mix in
    training. `layer_norm`: False, "batch" (as the originals) or "token". `mix_l2` scales
    `mix_penalty()`. `train_bilm`: whether the biLM learns too; `elmo.bilm.requires_grad_(True)` at any time, or that of
    some of its parameters, does the same. `keep_boundaries`: whether the vectors of the
    begin-sentence and the end-sentence token stay (T grows by 2). `state`: where each sentence starts, "settled" or
    "zero". `save_bilm=False` leaves a frozen biLM out of every `state_dict` that this module is part of.
    """

    def __init__(
        self,
        model: LoadedModel,
        *,
        mixes: int = 1,
        mixed_layers: Literal["all", "top"] = "all",
        dropout: float = 0.5,
        layer_norm: LayerNorm = False,
        mix_l2: float = 0.0,
        train_bilm: bool = False,
        keep_boundaries: bool = False,
        state: Literal["settled", "zero"] = "settled",
        save_bilm: bool = True,
    ) -> None:
        super().__init__()
        require_loaded(model, reader="Elmo.from_pretrained")
        if not 1 <= mixes <= MOST_MIXES:
            raise ConfigError(f"mixes is {mixes}; at least one mix must come out, and at most {MOST_MIXES}")
        if mixed_layers not in ("all", "top"):
            raise ConfigError(f"mixed_layers is {mixed_layers!r}; it must be 'all' or 'top'")
        if layer_norm not in (False, "batch", "token"):
            raise ConfigError(f"layer_norm is {layer_norm!r}; it must be False, 'batch' or 'token'")
        if not 0 <= dropout <= 1:
            raise ConfigError(f"dropout is {dropout}; it must lie between 0 and 1")
        if state not in ("settled", "zero"):
            raise ConfigError(f"state is {state!r}; it must be 'settled' or 'zero'")
        if train_bilm and not save_bilm:
            raise ConfigError("save_bilm=False would lose the biLM that train_bilm=True trains; leave one of them out")
        self.options: dict[str, Any] = {
            "mixes": mixes,
            "mixed_layers": mixed_layers,
            "dropout": dropout,
            "layer_norm": layer_norm,
            "mix_l2": mix_l2,
            "train_bilm": train_bilm,
            "keep_boundaries": keep_boundaries,
            "state": state,
            "save_bilm": save_bilm,
        }
        # Its own: a module is moved, cast and trained in place, and the caller's biLM stays as it is.
        bilm = copy.deepcopy(model.bilm).requires_grad_(True) if train_bilm else frozen_copy(model.bilm)
        self.bilm = bilm.float()
        self.model = model.replace(bilm=self.bilm)
        self.layer_count = self.bilm.config.layer_count if mixed_layers == "all" else 1
        self.mixes = nn.ModuleList(ScalarMix(self.layer_count, layer_norm=layer_norm) for _ in range(mixes))
        self.dropout = nn.Dropout(dropout)
        self.mix_l2 = mix_l2
        self.keep_boundaries = keep_boundaries
        self.state = state
        self._shares_weights = not train_bilm  # with the caller's model
        self._lock = ThreadLock()
        self._cache = WordCache(self._encode_words, size=self.bilm.config.lstm.output_dim)
        self._packed: PackedBiLM | None = None
        self._stamp: object = None  # of the weights that both of them belong to
        if not save_bilm:
            self.register_state_dict_post_hook(_drop_bilm)  # type: ignore[no-untyped-call]
            self.register_load_state_dict_pre_hook(_supply_bilm)  # type: ignore[no-untyped-call]

    @classmethod
    def from_pretrained(
        cls, name_or_path: str | os.PathLike[str] | None = None, **options: Unpack[ElmoOptions]
    ) -> "Elmo":
        """Load a biLM by name or path, and mixes that `save_pretrained` wrote.

        Without a name it is the packaged English model. `options` are the class's, `mixes=2` for example; what is not
        given is as it was saved, or the class's default.
        """
        source = DEFAULT if name_or_path is None else str(name_or_path)
        model = read_model(source)
        hub = source.startswith(PREFIX) and model.source is not None
        saved = Path(str(model.source) if hub else source) / OPTIONS_FILE
        if source == DEFAULT or not saved.is_file():
            return cls(model, **options)
        written = read_json(saved, refusal=ConfigError)
        with refusing(saved, ConfigError):
            elmo = cls(model, **{**dataclasses.asdict(read_fields(_Options, written, where=str(saved))), **options})
        shapes = {name: tuple(tensor.shape) for name, tensor in elmo.mixes.state_dict().items()}
        try:
            elmo.mixes.load_state_dict(read_tensors(saved.with_name(MIXES_FILE), shapes))
        except WeightsError as error:
            raise ConfigError(f"{error}: the mixes do not fit the options") from None
        return elmo

    def save_pretrained(self, directory: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the biLM as a native model directory, with the mixes and the options beside it.

        `overwrite` replaces a model that is there.
        """
        folder = Path(directory)
        write_model(self.model, folder, overwrite=overwrite)
        mixes = {name: tensor.detach().cpu().contiguous() for name, tensor in self.mixes.state_dict().items()}
        write_file(folder / MIXES_FILE, safetensors.torch.save(mixes))
        write_file(folder / OPTIONS_FILE, json.dumps(self.options, indent=2).encode("utf-8"))

    @property
    def dim(self) -> int:
        """Size of a token's vector (D)."""
        return self.bilm.config.output_dim

    @property
    def train_bilm(self) -> bool:
        """Whether the biLM learns too: whether any of its parameters requires a gradient now."""
        return any(parameter.requires_grad for parameter in self.bilm.parameters())

    def forward(self, sentences: Sequence[Sequence[str]] | Tensor) -> ElmoOutput:
        """Sentences as lists of tokens, or rows of character ids [N, T, C] (all zero where there is no token)."""
        # A compiler has nothing to gain from dictionaries and kernels of our own; it goes on behind them.
        run = torch.compiler.disable(self.layers) if torch.compiler.is_compiling() else self.layers
        layers, mask = run(sentences)
        return self.mix(layers, mask)

    def layers(self, sentences: Sequence[Sequence[str]] | Tensor) -> tuple[Tensor, Tensor]:
        """The layers to be mixed [L, N, T, D] and the mask [N, T]: what a frozen biLM lets a trainer cache."""
        learns = self.train_bilm
        runner = self._learning() if learns else self._frozen()
        with torch.set_grad_enabled(torch.is_grad_enabled() and learns):
            return self._run(runner, sentences, learns=learns)

    def _run(
        self, runner: BiLM | PackedBiLM, sentences: Sequence[Sequence[str]] | Tensor, *, learns: bool
    ) -> tuple[Tensor, Tensor]:
        boundaries = self._encode_rows(self.model.boundary_rows(), learns=learns)
        tokens: Sequence[Sequence[str]]
        if isinstance(sentences, Tensor):
            tokens, vectors = self._from_rows(sentences, learns=learns)
        else:
            tokens = check_tokens(sentences)
            vectors = self._encode_repeated if learns else self._cache.look_up
        start = runner.settled_state if self.state == "settled" else runner.zero_state
        counts = np.array([len(sentence) for sentence in tokens], dtype=np.int64)
        flat = vectors([word for sentence in tokens for word in sentence])
        computed, steps, _ = contextualize(runner, flat, boundaries, counts, start(len(tokens)))
        stacked = torch.from_numpy(computed) if isinstance(computed, np.ndarray) else computed
        stacked, lengths = stacked[-self.layer_count :], torch.from_numpy(steps)  # all layers, or the top one
        if self.keep_boundaries:
            return stacked, _mask(lengths, stacked.shape[2]).to(self.device)
        inside = _mask(lengths - 2, stacked.shape[2] - 2).to(self.device)  # [N, T]
        return stacked[:, :, 1:-1] * inside[:, :, None], inside

    def mix(self, layers: Tensor, mask: Tensor) -> ElmoOutput:
        """Mix layers [L, N, T, D] into one tensor for each mix; zero where the mask is."""
        alive = mask[:, :, None]
        return ElmoOutput([self.dropout(mix(layers, mask)) * alive for mix in self.mixes], mask)

    def mix_penalty(self) -> Tensor:
        """The paper's `lambda * ||w||^2` over all mixes, to be added to the task's loss."""
        return self.mix_l2 * torch.stack([mix.penalty() for mix in self.mixes if isinstance(mix, ScalarMix)]).sum()

    @property
    def device(self) -> torch.device:
        """Where the biLM is."""
        return self.bilm.settled_h.device

    def _apply(self, fn: Any, recurse: bool = True) -> "Elmo":
        self._forget()  # what is remembered stands on the old device, in the old type
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self

    def _forget(self) -> None:
        self._cache.clear()
        self._packed = None
        self._stamp = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_packed": None, "_stamp": None}  # they point into memory, and are soon made anew

    def _frozen(self) -> BiLM | PackedBiLM:
        """The biLM, on a CPU its copy for the compiled kernels, made at the first use.

        Nothing goes stale: when a weight is not the one it was, all that was made of it is forgotten.
        """
        with self._lock.held():
            stamp = weights_stamp(self.bilm)
            if stamp != self._stamp:
                self._forget()
                self._stamp = stamp
            if self._packed is not None:
                return self._packed
            self._packed = packed_copy(self.bilm)
            return self._packed or self.bilm

    def _learning(self) -> BiLM:
        """The biLM with weights of its own, which may change without a trace in the model that it came from."""
        with self._lock.held(), torch.inference_mode(False), torch.no_grad():
            self._forget()
            self.model.__dict__.pop("sha256", None)  # of weights that will not last
            if self._shares_weights:
                for parameter in self.bilm.parameters():
                    parameter.data = parameter.data.clone()
                self._shares_weights = False
        return self.bilm

    def _encode_words(self, words: Sequence[str]) -> Array:
        return self._encode_rows(self.model.spell(words), learns=False)

    def _encode_repeated(self, words: Sequence[str]) -> Tensor:
        """Each distinct word once; gradients of its repetitions meet in it."""
        distinct = list(dict.fromkeys(words))
        place = {word: n for n, word in enumerate(distinct)}
        vectors: Tensor = self._encode_rows(self.model.spell(distinct), learns=True)
        return vectors[torch.tensor([place[word] for word in words], dtype=torch.long, device=self.device)]

    def _encode_rows(self, rows: npt.NDArray[np.integer[Any]], *, learns: bool) -> Array:
        packed = self._packed
        if not learns and packed is not None:
            return packed.tokens(rows)
        given = torch.from_numpy(rows).to(self.device)
        return self.bilm.tokens(given) if learns else word_vectors(self.bilm.tokens, given)

    def _from_rows(self, rows: Tensor, *, learns: bool) -> tuple[list[list[str]], LookUpWords]:
        """Rows of ids [N, T, C] as sentences of stand-in tokens, and the function that knows their vectors."""
        if rows.dim() != 3:
            raise InputError(f"character ids have shape {list(rows.shape)}; [sentences, tokens, characters] is wanted")
        alive = (rows > 0).any(-1)  # [N, T]
        if bool((alive[:, 1:] & ~alive[:, :-1]).any()):
            raise InputError(
                "character ids have a token behind a row of zeros; padding belongs at the end of a sentence"
            )
        distinct, index = torch.unique(rows[alive], dim=0, return_inverse=True)  # [W, C], [tokens]
        if not len(index):
            distinct = rows.new_zeros(0, rows.shape[2])
        encoded = self._encode_rows(host(distinct), learns=learns)
        vectors = encoded[host(index) if isinstance(encoded, np.ndarray) else index.to(self.device)]
        counts = alive.sum(1).tolist()
        return [[""] * count for count in counts], lambda _: vectors


def _mask(lengths: Tensor, T: int) -> Tensor:
    return torch.arange(T) < lengths[:, None]


def _drop_bilm(module: nn.Module, state: dict[str, Any], prefix: str, _metadata: Any) -> None:
    """Leave a frozen biLM out; one that learned after all is nowhere else."""
    assert isinstance(module, Elmo)
    if not module._shares_weights:
        return
    for name in [name for name in state if name.startswith(f"{prefix}bilm.")]:
        del state[name]


def _supply_bilm(module: nn.Module, state: dict[str, Any], prefix: str, *_: Any) -> None:
    """Absent biLM weights are the ones the module has already."""
    assert isinstance(module, Elmo)
    for name, tensor in module.bilm.state_dict().items():
        state.setdefault(f"{prefix}bilm.{name}", tensor)

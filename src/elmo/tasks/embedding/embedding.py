"""`TaskEmbedding`: a token's vectors at the input and at the output of a task's RNN, as `EmbeddingConfig` says.

N texts, T tokens, W distinct words, D sizes.
"""

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from elmo.embed.module import Elmo
from elmo.errors import ConfigError
from elmo.model.mix import ScalarMix
from elmo.tasks.embedding.characters import CharacterEncoder
from elmo.tasks.embedding.config import ElmoConfig, EmbeddingConfig
from elmo.tasks.embedding.layercache import LayerStore
from elmo.tasks.embedding.texts import TextBatch, TextTable
from elmo.tasks.embedding.wordlist import WordList
from elmo.tasks.embedding.words import WordEmbedding
from elmo.tasks.examples import Text
from elmo.tasks.networks.padded import Padded
from elmo.weights.loaded import LoadedModel


class Embedded(NamedTuple):
    """What a task model reads of a batch of texts."""

    input: Tensor  # [N, T, input_dim]
    output: Tensor | None  # [N, T, output_dim], to stand beside what the task's RNN says
    mask: Tensor  # [N, T]
    lengths: Tensor | Padded  # [N], on the host, or what an `Encoder` takes for them


class TaskEmbedding(nn.Module):
    """Word vector, characters and ELMo of each token, side by side; ELMo once more for the output if so configured."""

    def __init__(
        self, config: EmbeddingConfig, *, word_list: WordList | None, word_dim: int, model: LoadedModel | None
    ) -> None:
        super().__init__()
        if (model is None) != (config.elmo.where == "none"):
            given = "no biLM is given" if model is None else "a biLM is given"
            raise ConfigError(f"elmo.where is {config.elmo.where!r}, but {given}; change one of them")
        self.config, self.word_list = config, word_list
        self.words = None
        if config.words is not None:
            assert word_list is not None
            known, rest = len(word_list.known), len(word_list.rest)
            self.words = WordEmbedding(known=known, rest=rest, dim=word_dim, train=config.words.train)
        self.characters = None if config.characters is None else CharacterEncoder(config.characters)
        self.elmo = None if model is None else make_elmo(model, config.elmo)
        self.register_buffer("_place", torch.empty(0), persistent=False)
        elmo_dim = 0 if self.elmo is None else self.elmo.dim
        # Word vector and characters, which stand before ELMo at the input.
        self.static_dim = (0 if self.words is None else word_dim) + (
            0 if config.characters is None else config.characters.filters
        )
        self.input_dim = self.static_dim + (elmo_dim if config.elmo.where in ("input", "both") else 0)
        self.output_dim = elmo_dim if config.elmo.where in ("output", "both") else 0

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        device = self._place.device
        assert isinstance(device, torch.device)
        return device

    def tabulate(self, texts: Iterable[Text], *, store: LayerStore | None = None) -> TextTable:
        """Texts ready for batches; the layers of a frozen biLM are computed now."""
        return TextTable(texts, word_list=self.word_list, elmo=self.elmo, device=self.device, store=store)

    def forward(self, batch: TextBatch) -> Embedded:
        """The vectors of a batch; zero where there is no token."""
        parts: list[Tensor] = []
        if self.words is not None:
            parts.append(_at_positions(self.words(batch.words), batch))
        if self.characters is not None:
            parts.append(_at_positions(self.characters(batch.characters), batch))
        output = None
        if self.elmo is not None:
            mixed = self._elmo_vectors(self.elmo, batch)
            if self.config.elmo.where != "input":
                output = mixed.pop()
            parts += mixed
        inside = torch.cat([part.to(parts[0].dtype) for part in parts], dim=2) * batch.mask[:, :, None]
        return Embedded(inside, output, batch.mask, batch.lengths)

    def mix_penalty(self) -> Tensor | float:
        """lambda * ||w||^2 over all mixes, to be added to the loss."""
        return 0.0 if self.elmo is None else self.elmo.mix_penalty()

    @torch.no_grad()
    def mix_weights(self) -> dict[str, dict[str, list[float] | float]]:
        """What each mix has learned: the weight of each layer, and gamma (the paper's Figure 2)."""
        if self.elmo is None:
            return {}
        where = self.config.elmo.where
        names = ("input", "output") if where == "both" else (where,)
        found: dict[str, dict[str, list[float] | float]] = {}
        for name, mix in zip(names, self.elmo.mixes, strict=True):
            assert isinstance(mix, ScalarMix)
            found[name] = {"layers": torch.softmax(mix.weights, 0).tolist(), "gamma": float(mix.gamma)}
        return found

    def _elmo_vectors(self, elmo: Elmo, batch: TextBatch) -> list[Tensor]:
        layers = batch.layers
        if layers is None:
            assert batch.unread is not None
            read, inside = elmo.layers(batch.unread.sentences)
            layers = read.permute(1, 2, 0, 3)[inside][batch.unread.places].permute(2, 0, 1, 3)
        return elmo.mix(layers, batch.mask).representations


def _at_positions(vectors: Tensor, batch: TextBatch) -> Tensor:
    """What the words of a batch have, where they stand: [N, T, D]."""
    return vectors.view(*batch.mask.shape, -1) if batch.index is None else vectors[batch.index]


def make_elmo(model: LoadedModel, config: ElmoConfig) -> Elmo:
    """The module behind the options. A frozen biLM is not saved with the task model, which names it by its hash."""
    return Elmo(
        model,
        mixes=config.mixes,
        mixed_layers=config.layers,
        dropout=config.dropout,
        layer_norm=config.layer_norm,
        mix_l2=config.mix_l2,
        train_bilm=config.train_bilm,
        save_bilm=config.train_bilm,
    )

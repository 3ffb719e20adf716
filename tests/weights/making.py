"""Random models of many architectures, and writing them as files."""

from tests.tiny import TINY, make_bilm

from elmo.model.architecture import BiLMConfig
from elmo.model.characters import CharCNNConfig
from elmo.model.stacks import BiLSTMConfig
from elmo.model.words import WordTableConfig
from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import Vocabulary
from elmo.weights.loaded import LoadedModel

WORDS = ("<S>", "</S>", "<UNK>", "the", "river", "bank", ".")


def character_config(
    *,
    filters: tuple[tuple[int, int], ...] = ((1, 4), (2, 4), (3, 8)),
    highways: int = 1,
    activation: str = "relu",
    characters: int = 50,
    output_dim: int = 8,
    cell_dim: int = 16,
    layers: int = 2,
    clips: float | None = 3.0,
    skip_connections: bool = True,
    bidirectional: bool = True,
) -> BiLMConfig:
    """A biLM over characters; it has a projection where the cell is larger than the output, as bilm-tf has."""
    return BiLMConfig(
        tokens=CharCNNConfig(
            embedding_dim=4,
            filters=filters,
            highways=highways,
            activation=activation,  # type: ignore[arg-type]
            output_dim=output_dim,
            characters=characters,
        ),
        lstm=BiLSTMConfig(
            input_dim=output_dim,
            cell_dim=cell_dim,
            projection_dim=output_dim if output_dim < cell_dim else None,
            layers=layers,
            cell_clip=clips,
            projection_clip=clips,
            skip_connections=skip_connections,
            bidirectional=bidirectional,
        ),
    )


WORD_CONFIG = BiLMConfig(
    tokens=WordTableConfig(words=len(WORDS), output_dim=8),
    lstm=BiLSTMConfig(input_dim=8, cell_dim=16, projection_dim=8, layers=2, cell_clip=3.0, projection_clip=3.0),
)

CONFIGS = {
    "plain": character_config(),
    "one layer": character_config(layers=1),
    "three layers": character_config(layers=3),
    "no skips": character_config(skip_connections=False),
    "no clips": character_config(clips=None),
    "odd clips": character_config(clips=0.125),
    "no highways": character_config(highways=0),
    "two highways, tanh": character_config(highways=2, activation="tanh"),
    "no projection of filters": character_config(filters=((1, 4), (3, 4))),
    "no projection of cells": character_config(cell_dim=8),
    "short rows": character_config(characters=20),
    "one direction": character_config(bidirectional=False),
    "one direction, one layer": character_config(bidirectional=False, layers=1),
    "words": WORD_CONFIG,
}


def make_model(config: BiLMConfig = TINY, *, seed: int = 0) -> LoadedModel:
    """A random, settled model."""
    vocabulary = Vocabulary(WORDS) if isinstance(config.tokens, WordTableConfig) else None
    bilm = make_bilm(config, seed=seed)
    model = LoadedModel(bilm=bilm, tokenizer=Tokenizer(rule="treebank"), vocabulary=vocabulary)
    model.settle()
    return model

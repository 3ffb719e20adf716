"""ManyLangsTokens against a plain computation, and its configuration."""

import pytest
import torch
from torch.nn.functional import conv1d

from elmo.errors import ConfigError
from elmo.model.dictionaries import ManyLangsConfig
from elmo.model.manylangs import ManyLangsTokens

BOTH = {
    "words": 6,
    "word_dim": 3,
    "alphabet": 9,
    "embedding_dim": 4,
    "filters": ((1, 2), (3, 5)),
    "highways": 2,
    "characters": 8,
    "padding": 8,
    "output_dim": 5,
}


def make(**changes: object) -> ManyLangsTokens:
    tokens = ManyLangsTokens(ManyLangsConfig(**{**BOTH, **changes}))
    tokens.initialize(torch.Generator().manual_seed(0))
    return tokens.requires_grad_(False)


def plain(tokens: ManyLangsTokens, row: torch.Tensor) -> torch.Tensor:
    embedded = tokens.characters[row[1:]].T[None]  # [1, E, C]
    pooled = [
        conv1d(embedded, weight.permute(2, 1, 0), bias).amax(-1)
        for weight, bias in zip(tokens.filters, tokens.filter_biases, strict=True)
    ]
    x = torch.cat(pooled, dim=1)
    x = torch.relu(x) if tokens.config.activation == "relu" else torch.tanh(x)
    for highway in tokens.highways:
        gate = torch.sigmoid(-(x @ highway.weight_carry + highway.bias_carry))
        x = gate * x + (1 - gate) * torch.relu(x @ highway.weight_transform + highway.bias_transform)
    x = torch.cat([tokens.words[row[:1]], x], dim=1)
    return (x @ tokens.weight_projection + tokens.bias_projection)[0]


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_a_token_is_its_word_vector_and_its_characters_projected(activation):
    tokens = make(activation=activation)
    rows = torch.cat([torch.randint(0, 6, (7, 1)), torch.randint(0, 9, (7, 8))], dim=1)
    wanted = torch.stack([plain(tokens, row) for row in rows])
    assert (tokens(rows) - wanted).abs().max() < 1e-6


def test_many_words_at_once_give_the_same_as_few():
    tokens = make()
    rows = torch.randint(0, 6, (600, 9))
    with torch.no_grad():
        assert (tokens(rows)[-5:] - tokens(rows[-5:])).abs().max() < 1e-6


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"words": 0}, "both or neither"),
        ({"alphabet": 0}, "all or none"),
        ({"filters": ()}, "all or none"),
        ({"filters": ((9, 1),)}, "a width is 1 to 8"),
        ({"output_dim": 0}, "output_dim is 0"),
        ({"highways": -1}, "must not be negative"),
        ({"words": 0, "word_dim": 0, "alphabet": 0, "embedding_dim": 0, "filters": (), "characters": 0}, "are 0"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        ManyLangsConfig(**{**BOTH, **changes})

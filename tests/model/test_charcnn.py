"""CharCNN against the definition: convolve all positions, pool, activate, highways, projection."""

import pytest
import torch
from torch.nn.functional import conv1d, embedding

from elmo.errors import ConfigError
from elmo.model.characters import CharCNNConfig
from elmo.model.charcnn import CharCNN
from elmo.ops.charconv.grouped import WORDS_AT_ONCE
from elmo.text.chars import spell

WORDS = ["", "a", "bank", "naïve", "漢字", "x" * 60, "antidisestablishmentarianism", "é" * 30, "\0", "."]


def make(**changes: object) -> CharCNN:
    config = {"embedding_dim": 4, "filters": ((1, 4), (3, 5), (7, 6)), "highways": 2, "output_dim": 8, **changes}
    cnn = CharCNN(CharCNNConfig(**config))
    cnn.initialize(torch.Generator().manual_seed(3))
    with torch.no_grad():
        for bias in cnn.filter_biases:
            bias.normal_(generator=torch.Generator().manual_seed(4))
    return cnn.double()


def by_definition(cnn: CharCNN, rows: torch.Tensor) -> torch.Tensor:
    x = embedding(rows.long(), cnn.characters).transpose(1, 2)  # [W, E, C]
    pooled = [
        conv1d(x, weight.permute(2, 1, 0), bias).amax(-1)
        for weight, bias in zip(cnn.filters, cnn.filter_biases, strict=True)
    ]
    x = torch.cat(pooled, dim=1)
    x = torch.relu(x) if cnn.config.activation == "relu" else torch.tanh(x)
    for highway in cnn.highways:
        gate = torch.sigmoid(x @ highway.weight_carry + highway.bias_carry)
        x = gate * torch.relu(x @ highway.weight_transform + highway.bias_transform) + (1 - gate) * x
    return x @ cnn.weight_projection + cnn.bias_projection if cnn.config.projected else x


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize(("highways", "output_dim"), [(0, 8), (1, 15), (2, 8)])
def test_words_are_encoded_as_the_definition_says(activation: str, highways: int, output_dim: int) -> None:
    cnn = make(activation=activation, highways=highways, output_dim=output_dim)
    rows = torch.from_numpy(spell(WORDS))
    assert cnn.config.projected == (output_dim != 15)
    torch.testing.assert_close(cnn(rows), by_definition(cnn, rows), rtol=0, atol=1e-12)


def test_many_words_in_groups_give_what_one_group_gives() -> None:
    cnn = make()
    words = [f"{word}{n}" for n in range(WORDS_AT_ONCE) for word in ("a", "bank" * (n % 9))]
    rows = torch.from_numpy(spell(words))
    with torch.no_grad():
        torch.testing.assert_close(cnn(rows), by_definition(cnn, rows), rtol=0, atol=1e-12)


def test_gradients_are_those_of_the_definition() -> None:
    cnn = make()
    rows = torch.from_numpy(spell(WORDS))
    cnn(rows).square().sum().backward()
    ours = {name: p.grad.clone() for name, p in cnn.named_parameters()}
    cnn.zero_grad()
    by_definition(cnn, rows).square().sum().backward()
    for name, parameter in cnn.named_parameters():
        torch.testing.assert_close(ours[name], parameter.grad, rtol=1e-9, atol=1e-12, msg=name)


def test_no_words_give_no_vectors() -> None:
    assert make()(torch.from_numpy(spell([]))).shape == (0, 8)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"filters": ()}, "at least one"),
        ({"filters": ((51, 4),)}, "width is 1 to 50"),
        ({"embedding_dim": 0}, "embedding_dim is 0"),
        ({"highways": -1}, "highways is -1"),
    ],
)
def test_impossible_sizes_are_refused_with_their_value(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make(**changes)

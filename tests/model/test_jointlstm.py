"""JointLSTM against torch's own LSTM, and what it refuses."""

import pytest
import torch
from torch import nn

from elmo.errors import ConfigError, InputError
from elmo.model.architecture import BiLMConfig
from elmo.model.bilm import BiLM
from elmo.model.dictionaries import ManyLangsConfig
from elmo.model.stacks import JointLSTMConfig

CONFIG = BiLMConfig(
    tokens=ManyLangsConfig(words=5, word_dim=3, output_dim=4),
    lstm=JointLSTMConfig(input_dim=4, cell_dim=6, projection_dim=4, layers=2),
)


def make() -> BiLM:
    bilm = BiLM(CONFIG)
    bilm.initialize(torch.Generator().manual_seed(0))
    return bilm.requires_grad_(False)


def as_torch(bilm: BiLM) -> nn.LSTM:
    """The same weights in torch's module: other gate order, forget bias stored."""
    lstm = nn.LSTM(4, 6, num_layers=2, bidirectional=True, batch_first=True).requires_grad_(False)
    for n, layer in enumerate(bilm.lstm.layers):
        for direction, suffix in enumerate(("", "_reverse")):
            for name, values in (("weight_ih", layer.weight_x), ("weight_hh", layer.weight_h), ("bias_ih", layer.bias)):
                i, j, f, o = values[direction].chunk(4, dim=-1)
                f = f + 1 if name == "bias_ih" else f
                getattr(lstm, f"{name}_l{n}{suffix}").copy_(torch.cat([i, f, j, o], dim=-1).t())
            getattr(lstm, f"bias_hh_l{n}{suffix}").zero_()
    return lstm


def test_the_top_layer_is_torchs_lstm_projected():
    bilm = make()
    x = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(1))
    layers, state = bilm(x, torch.tensor([5, 5, 5]), bilm.zero_state(3))
    forward, backward = as_torch(bilm)(x)[0].chunk(2, dim=-1)
    project = nn.functional.linear
    wanted = torch.cat(
        [project(y, bilm.lstm.weight_projection.T, bilm.lstm.bias_projection) for y in (forward, backward)], dim=-1
    )
    assert layers.shape == (2, 3, 5, 8)
    assert (layers[1] - wanted).abs().max() < 1e-6
    assert not state.h.any()


def test_padding_does_not_change_vectors_and_gives_zeros():
    bilm = make()
    x = torch.randn(2, 6, 4, generator=torch.Generator().manual_seed(1))
    together, _ = bilm(x, torch.tensor([3, 6]), bilm.zero_state(2))
    alone, _ = bilm(x[:1, :3], torch.tensor([3]), bilm.zero_state(1))
    assert (together[:, :1, :3] - alone).abs().max() < 1e-6
    assert not together[:, 0, 3:].any()


def test_a_sentence_in_pieces_is_refused_and_a_whole_one_is_not():
    bilm = make()
    x = torch.randn(4, 1, 4)
    whole = torch.stack([x, x.flip(0)])
    assert len(bilm.lstm(whole, bilm.zero_state(1))[0]) == 1
    with pytest.raises(InputError, match="split the sentence"):
        bilm.lstm(torch.stack([x, x]), bilm.zero_state(1))


def test_gradients_reach_every_weight():
    bilm = BiLM(CONFIG)
    bilm.initialize(torch.Generator().manual_seed(0))
    vectors = bilm.tokens(torch.tensor([[0], [1], [2]]))
    layers, _ = bilm(vectors[None], torch.tensor([3]), bilm.zero_state(1))
    layers[1].sum().backward()
    assert all(parameter.grad is not None for parameter in bilm.parameters())


@pytest.mark.parametrize("name", ["input_dim", "cell_dim", "projection_dim", "layers"])
def test_sizes_below_one_are_refused(name):
    values = {"input_dim": 4, "cell_dim": 6, "projection_dim": 4, "layers": 2, name: 0}
    with pytest.raises(ConfigError, match=rf"lstm\.{name} is 0"):
        JointLSTMConfig(**values)


def test_a_config_survives_its_dictionary_and_an_absent_kind_means_the_first():
    assert BiLMConfig.from_dict(CONFIG.to_dict()) == CONFIG
    values = CONFIG.to_dict()
    values["lstm"] = {"input_dim": 4, "cell_dim": 6, "projection_dim": 4}
    assert BiLMConfig.from_dict(values).lstm.kind == "independent"

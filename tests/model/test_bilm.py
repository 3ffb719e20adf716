"""BiLM: masking, state as a value, and that no direction sees what it must not."""

import dataclasses

import pytest
import torch
from tests.tiny import TINY, make_bilm

from elmo.errors import ConfigError
from elmo.model.architecture import BiLMConfig
from elmo.model.bilm import BiLM
from elmo.model.state import State
from elmo.model.words import WordTableConfig


def random_input(N: int = 3, T: int = 6, *, seed: int = 0) -> torch.Tensor:
    return torch.randn(N, T, 8, generator=torch.Generator().manual_seed(seed))


def replaced(config: BiLMConfig, **changes: object) -> BiLMConfig:
    return dataclasses.replace(config, lstm=dataclasses.replace(config.lstm, **changes))


CONFIGS = {
    "plain": TINY,
    "no skip": replaced(TINY, skip_connections=False),
    "no clips": replaced(TINY, cell_clip=None, projection_clip=None),
    "no projection": replaced(TINY, cell_dim=8, projection_dim=None),
    "three layers": replaced(TINY, layers=3),
    "one direction": replaced(TINY, bidirectional=False),
    "words": BiLMConfig(tokens=WordTableConfig(words=20, output_dim=8), lstm=TINY.lstm),
}


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
def test_shapes_follow_the_configuration(config: BiLMConfig) -> None:
    bilm = make_bilm(config)
    layers, state = bilm(random_input(), torch.tensor([6, 2, 4]), bilm.zero_state(3))
    assert layers.shape == (config.layer_count, 3, 6, config.output_dim)
    assert state.h.shape == (config.lstm.layers, config.lstm.directions, 3, config.lstm.output_dim)
    assert state.c.shape == (config.lstm.layers, config.lstm.directions, 3, config.lstm.cell_dim)


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
def test_a_configuration_survives_its_dictionary(config: BiLMConfig) -> None:
    assert BiLMConfig.from_dict(config.to_dict()) == config


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
def test_padding_does_not_change_vectors(config: BiLMConfig) -> None:
    bilm = make_bilm(config)
    x = random_input()
    lengths = torch.tensor([3, 6, 1])
    layers, state = bilm(x, lengths, bilm.settled_state(3))
    for n, length in enumerate(lengths.tolist()):
        alone, alone_state = bilm(x[n : n + 1, :length], lengths[n : n + 1], bilm.settled_state(1))
        torch.testing.assert_close(layers[:, n, :length], alone[:, 0], rtol=0, atol=1e-6)
        torch.testing.assert_close(state.rows(slice(n, n + 1)), alone_state, rtol=0, atol=1e-6)
        assert not layers[:, n, length:].any()


@pytest.mark.parametrize("changed", range(6))
def test_no_direction_peeks(bilm: BiLM, changed: int) -> None:
    x = random_input(1)
    other = x.clone()
    other[0, changed] += 1
    lengths = torch.tensor([6])
    before, _ = bilm(x, lengths, bilm.zero_state(1))
    after, _ = bilm(other, lengths, bilm.zero_state(1))
    moved = (before != after)[1:, 0]  # [L, T, 2D]
    forward, backward = moved[..., :8], moved[..., 8:]
    assert not forward[:, :changed].any(), "a forward state saw a later word"
    assert not backward[:, changed + 1 :].any(), "a backward state saw an earlier word"
    assert forward[:, changed:].any(-1).all(), "a word did not reach the forward states from it on"
    assert backward[:, : changed + 1].any(-1).all(), "a word did not reach the backward states up to it"


def test_carried_state_joins_two_halves_of_the_forward_direction() -> None:
    bilm = make_bilm(CONFIGS["one direction"])
    x = random_input(2, 8)
    whole, end = bilm(x, torch.tensor([8, 8]), bilm.zero_state(2))
    first, middle = bilm(x[:, :3], torch.tensor([3, 3]), bilm.zero_state(2))
    second, last = bilm(x[:, 3:], torch.tensor([5, 5]), middle)
    torch.testing.assert_close(whole, torch.cat([first, second], dim=2), rtol=0, atol=1e-6)
    torch.testing.assert_close(end, last, rtol=0, atol=1e-6)


def test_state_handed_in_is_left_alone(bilm: BiLM) -> None:
    state = bilm.zero_state(2)
    bilm(random_input(2), torch.tensor([6, 3]), state)
    assert not state.h.any()
    assert not state.c.any()


def test_settled_state_stays_when_the_token_between_two_sentences_is_read(bilm: BiLM) -> None:
    from elmo.text.chars import boundary_rows

    begin, end = bilm.tokens(torch.from_numpy(boundary_rows()))  # [D] each
    state = bilm.settled_state(1)
    _, after = bilm.lstm(torch.stack([begin, end])[:, None, None], state)  # forward reads <S>, backward </S>
    assert state.c.abs().max() > 0.01, "a settled state that is zero proves nothing"
    torch.testing.assert_close(after, State(*state), rtol=0, atol=1e-5)


def test_layers_of_different_size_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"tokens.output_dim is 8 and the LSTM's output 4"):
        replaced(TINY, projection_dim=4)


def test_unknown_and_missing_keys_are_refused_with_their_place() -> None:
    values = TINY.to_dict()
    with pytest.raises(ConfigError, match=r"config.lstm: unknown key 'cell_dimm'"):
        BiLMConfig.from_dict({**values, "lstm": {**values["lstm"], "cell_dimm": 3}})
    with pytest.raises(ConfigError, match=r"config: key 'tokens' is missing"):
        BiLMConfig.from_dict({"lstm": values["lstm"]})
    with pytest.raises(ConfigError, match=r"config.lstm.cell_dim: found '16' \(str\), but int is wanted"):
        BiLMConfig.from_dict({**values, "lstm": {**values["lstm"], "cell_dim": "16"}})
    with pytest.raises(ConfigError, match=r"config.tokens.kind: found 'pixels'"):
        BiLMConfig.from_dict({**values, "tokens": {"kind": "pixels"}})
    with pytest.raises(ConfigError, match=r"config.lstm.skip_connections: found 1 \(int\), but bool is wanted"):
        BiLMConfig.from_dict({**values, "lstm": {**values["lstm"], "skip_connections": 1}})
    with pytest.raises(ConfigError, match=r"config.tokens.activation: found 'gelu', but one of 'relu', 'tanh'"):
        BiLMConfig.from_dict({**values, "tokens": {**values["tokens"], "activation": "gelu"}})


@pytest.mark.parametrize(
    ("name", "value"), [("cell_clip", 0.0), ("layers", 0), ("cell_dim", -1), ("projection_clip", -3.0)]
)
def test_impossible_values_are_refused(name: str, value: float) -> None:
    with pytest.raises(ConfigError, match=f"lstm.{name} is {value}"):
        replaced(TINY, **{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cell_clip", 0.05),
        ("projection_clip", 0.05),
        ("skip_connections", False),
        ("layers", 1),
        ("bidirectional", False),
    ],
)
def test_every_rule_of_the_lstm_changes_something(name: str, value: object) -> None:
    base = make_bilm(TINY)
    changed = BiLM(replaced(TINY, **{name: value})).requires_grad_(False)
    own = changed.state_dict()
    for key, tensor in base.state_dict().items():
        if key in own:
            own[key].copy_(tensor[tuple(slice(0, n) for n in own[key].shape)])
    x, lengths = random_input(), torch.tensor([6, 6, 6])
    before, _ = base(x, lengths, base.zero_state(3))
    after, _ = changed(x, lengths, changed.zero_state(3))
    assert before.shape != after.shape or not torch.allclose(before, after)

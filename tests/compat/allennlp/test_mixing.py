"""AllenNLP's `ScalarMix`: its numbers, its parameter names, its complaints."""

import numpy as np
import pytest
import torch
from tests.compat.golden import GOLDEN, assert_close

from elmo.compat.allennlp import ConfigurationError, ScalarMix


@pytest.fixture(scope="module")
def golden():
    return np.load(GOLDEN / "mix" / "allennlp_scalar_mix.npz")


@pytest.mark.parametrize("norm", ["", "_ln"])
@pytest.mark.parametrize("start", ["", "init_"])
def test_numbers_equal_allennlps_padding_included(golden, norm, start):
    mix = ScalarMix(3, do_layer_norm=bool(norm))
    if not start:
        state = {f"scalar_parameters.{k}": torch.tensor([w]) for k, w in enumerate(golden["scalar_parameters"])}
        mix.load_state_dict({**state, "gamma": torch.from_numpy(golden["gamma"])})
    found = mix([torch.from_numpy(t) for t in golden["tensors"]], torch.from_numpy(golden["mask"]))
    assert_close(found.detach(), golden[f"{start}out{norm}"])


def test_parameters_picked_beforehand_choose_one_layer(golden):
    mix = ScalarMix(3, initial_scalar_parameters=[-9e10, 1, -9e10])
    found = mix([torch.from_numpy(t) for t in golden["tensors"]])
    np.testing.assert_array_equal(found.detach(), golden["pick1_out"])


def test_any_shape_with_a_mask_of_any_number_type_is_mixed():
    generator = torch.Generator().manual_seed(0)
    tensors = [torch.randn(2, 3, 4, 5, generator=generator) for _ in range(2)]
    mask = torch.ones(2, 3, 4, dtype=torch.long)
    mask[1, :, 2:] = 0
    found = ScalarMix(2, do_layer_norm=True)(tensors, mask)
    wanted = torch.zeros(2, 3, 4, 5)
    for tensor in tensors:
        alive = tensor[mask.bool()]
        wanted += (tensor - alive.mean()) / alive.std(correction=0) / 2
    torch.testing.assert_close(found, wanted)
    assert ScalarMix(1)([torch.ones(4)]).shape == (4,)


def test_weights_and_scale_learn_unless_they_are_frozen():
    learning = ScalarMix(2)
    learning([torch.ones(1, 2), torch.zeros(1, 2)]).sum().backward()
    assert all(p.grad is not None for p in learning.parameters())
    frozen = ScalarMix(2, initial_scalar_parameters=[1.0, 2.0], trainable=False)
    assert not any(p.requires_grad for p in frozen.parameters())
    assert [p.item() for p in frozen.scalar_parameters] == [1.0, 2.0]


def test_wrong_counts_and_a_missing_mask_are_configuration_errors():
    with pytest.raises(ConfigurationError, match="has 2 weights, but 3"):
        ScalarMix(3, initial_scalar_parameters=[0.0, 0.0])
    with pytest.raises(ConfigurationError, match="5 tensors are given, but this mix is made for 3"):
        ScalarMix(3)([torch.ones(2, 2)] * 5)
    with pytest.raises(ConfigurationError, match="needs the mask"):
        ScalarMix(1, do_layer_norm=True)([torch.ones(2, 2)])

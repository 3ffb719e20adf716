"""ScalarMix and its layer norms against their formulas, worked out with numpy."""

from pathlib import Path

import numpy as np
import pytest
import torch

from elmo.model.mix import ScalarMix

GOLDEN = Path(__file__).parent.parent / "golden" / "mix"


def inputs() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    layers = torch.randn(3, 2, 4, 5, generator=generator, dtype=torch.float64)
    mask = torch.tensor([[True, True, True, False], [True, False, False, False]])
    return layers, mask


def mix_with(layer_norm: object, weights: list[float], gamma: float) -> ScalarMix:
    mix = ScalarMix(3, layer_norm=layer_norm).double()
    with torch.no_grad():
        mix.weights.copy_(torch.tensor(weights))
        mix.gamma.fill_(gamma)
    return mix


def shares(weights: list[float]) -> np.ndarray:
    return np.exp(weights) / np.exp(weights).sum()


def test_a_mix_is_gamma_times_the_weighted_sum() -> None:
    layers, mask = inputs()
    weights = [0.5, -1.0, 2.0]
    expected = 0.7 * np.einsum("l,lntd->ntd", shares(weights), layers.numpy())
    np.testing.assert_allclose(mix_with(False, weights, 0.7)(layers, mask).detach(), expected, atol=1e-12)


def test_a_new_mix_is_the_plain_mean() -> None:
    layers, mask = inputs()
    np.testing.assert_allclose(ScalarMix(3).double()(layers, mask).detach(), layers.mean(0), atol=1e-12)


def test_batch_norm_uses_every_unmasked_element_together() -> None:
    layers, mask = inputs()
    weights = [0.5, -1.0, 2.0]
    expected = np.zeros(layers.shape[1:])
    for share, layer in zip(shares(weights), layers.numpy(), strict=True):
        alive = layer[mask.numpy()]
        expected += share * (layer - alive.mean()) / np.sqrt(alive.var() + 1e-12)
    result = mix_with("batch", weights, 1.3)(layers, mask).detach().numpy()
    np.testing.assert_allclose(result[mask.numpy()], 1.3 * expected[mask.numpy()], atol=1e-9)


def test_token_norm_treats_each_vector_alone() -> None:
    layers, mask = inputs()
    array = layers.numpy()
    normed = (array - array.mean(-1, keepdims=True)) / np.sqrt(array.var(-1, keepdims=True) + 1e-12)
    np.testing.assert_allclose(mix_with("token", [0, 0, 0], 1.0)(layers, mask).detach(), normed.mean(0), atol=1e-9)


@pytest.mark.parametrize(("layer_norm", "depends"), [(False, False), ("token", False), ("batch", True)])
def test_only_the_batch_norm_depends_on_batch_mates(layer_norm: object, depends: bool) -> None:
    layers, mask = inputs()
    mix = mix_with(layer_norm, [0.5, -1.0, 2.0], 1.0)
    together, alone = mix(layers, mask)[:1], mix(layers[:, :1], mask[:1])
    assert torch.allclose(together, alone) is not depends


def test_penalty_is_the_squared_norm_of_the_raw_weights() -> None:
    assert mix_with(False, [0.5, -1.0, 2.0], 9.0).penalty().item() == pytest.approx(0.25 + 1 + 4)


def test_an_unknown_norm_is_refused() -> None:
    with pytest.raises(ValueError, match="layer_norm is 'layer'"):
        ScalarMix(3, layer_norm="layer")


@pytest.mark.parametrize(("layer_norm", "name"), [(False, "out"), ("batch", "out_ln")])
def test_a_mix_equals_allennlps(layer_norm: object, name: str) -> None:
    golden = np.load(GOLDEN / "allennlp_scalar_mix.npz")
    mix = ScalarMix(3, layer_norm=layer_norm)
    with torch.no_grad():
        mix.weights.copy_(torch.from_numpy(golden["scalar_parameters"]))
        mix.gamma.fill_(float(golden["gamma"][0]))
    mask = golden["mask"]
    mixed = mix(torch.from_numpy(golden["tensors"]), torch.from_numpy(mask)).detach().numpy()
    np.testing.assert_allclose(mixed[mask], golden[name][mask], rtol=0, atol=1e-5)

"""The kernels behind torch's biLM: the same numbers, gradients where something learns, nothing stale."""

import copy
import pickle

import pytest
import torch
from tests.tiny import make_bilm

from elmo.compat.inference import Inference
from elmo.model.packed import PackedBiLM
from elmo.model.state import State
from elmo.ops.cpu.kernels import kernels_run
from elmo.text.chars import spell

LENGTHS = torch.tensor([4, 0, 2])
pytestmark = pytest.mark.skipif(not kernels_run(), reason="no compiled kernels")


@pytest.fixture
def inference():
    return Inference(make_bilm().requires_grad_(False))


def inputs(bilm):
    """Sentences of 4, 0 and 2 tokens, and a state that is not zero."""
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(3, 4, bilm.config.tokens.output_dim, generator=generator)
    return x, State(*(torch.randn(part.shape, generator=generator) for part in bilm.zero_state(3)))


def assert_as_torch(inference):
    x, state = inputs(inference.bilm)
    layers, after = inference(x, LENGTHS, state)
    wanted, wanted_after = inference.bilm.double()(x.double(), LENGTHS, State(*(part.double() for part in state)))
    inference.bilm.float()
    torch.testing.assert_close(layers.double(), wanted, rtol=0, atol=1e-5)
    for found, right in zip(after, wanted_after, strict=True):
        torch.testing.assert_close(found.double(), right, rtol=0, atol=1e-5)


def test_layers_and_state_are_torchs(inference):
    assert isinstance(inference.runner, PackedBiLM)
    assert_as_torch(inference)


def test_the_copy_is_kept_while_the_weights_are(inference):
    first = inference.runner
    assert inference.runner is first
    with torch.no_grad():
        next(inference.bilm.lstm.parameters()).add_(0.5)
    assert inference.runner is not first
    assert_as_torch(inference)


def test_what_learns_is_computed_by_torch(inference):
    weight = next(inference.bilm.lstm.parameters()).requires_grad_(True)
    assert inference.runner is inference.bilm
    x, state = inputs(inference.bilm)
    inference(x, LENGTHS, state)[0].sum().backward()
    assert weight.grad is not None
    weight.requires_grad_(False)
    assert isinstance(inference.runner, PackedBiLM)


def test_gradients_reach_token_vectors_that_learn_alone(inference):
    x, state = inputs(inference.bilm)
    inference(x.requires_grad_(True), LENGTHS, state)[0].sum().backward()
    assert x.grad is not None
    assert x.grad[0].abs().sum() > 0


def test_other_types_are_computed_by_torch(inference):
    inference.bilm.double()
    assert inference.runner is inference.bilm
    assert inference.tokens(torch.from_numpy(spell(["fog"]))).dtype == torch.float64


def test_copies_have_a_network_of_their_own(inference):
    assert isinstance(inference.runner, PackedBiLM)
    for again in (copy.deepcopy(inference), pickle.loads(pickle.dumps(inference))):
        assert again.bilm is not inference.bilm
        assert_as_torch(again)

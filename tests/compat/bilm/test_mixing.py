"""bilm-tf's `weight_layers`: recorded outputs, variables by name, gradients."""

import numpy as np
import pytest
import torch
from tests.compat.golden import GOLDEN, OPTIONS, WEIGHTS, assert_close, read_json

from elmo.compat.bilm import Batcher, BidirectionalLanguageModel, reset_variables, trainable_variables, weight_layers
from elmo.errors import ConfigError

META = read_json(GOLDEN / "mix" / "bilm_weight_layers.meta.json")["variants"]


@pytest.fixture(autouse=True)
def _own_variables():
    reset_variables()
    yield
    reset_variables()


@pytest.fixture(scope="module")
def outputs():
    model = BidirectionalLanguageModel(OPTIONS, WEIGHTS)
    batcher = Batcher(GOLDEN / "bilm" / "vocab.txt", 50)
    return [model(batcher.batch_sentences(batch)) for batch in read_json(GOLDEN / "bilm" / "sentences.json")]


@pytest.mark.parametrize("variant", [name for name, meta in META.items() if "error" not in meta])
def test_mixes_equal_the_originals_padding_included(variant, outputs):
    golden = np.load(GOLDEN / "mix" / "bilm_weight_layers.npz")
    for i, bilm_ops in enumerate(outputs):
        weight_layers("m", bilm_ops, **META[variant]["args"])
        if not variant.startswith("init"):
            for name, values in (("m_ELMo_W", golden["W"]), ("m_ELMo_gamma", golden["gamma"])):
                if name in trainable_variables():
                    trainable_variables()[name].data.copy_(torch.from_numpy(values))
        found = weight_layers("m", bilm_ops, **META[variant]["args"])
        assert_close(found["weighted_op"].detach(), golden[f"{variant}_out_{i}"], message=f"batch {i}")
        penalty = found["regularization_op"]
        wanted = float(golden[f"{variant}_reg"])
        if META[variant]["reg_type"] == "list of one op":
            assert [p.item() for p in penalty] == [pytest.approx(wanted, abs=1e-6)]
        else:
            assert penalty == wanted == 0.0
    names = {name.removesuffix(":0") for name in META[variant]["variables"]}
    assert set(trainable_variables()) == names


def test_one_name_is_one_mix_and_two_names_are_two(outputs):
    weight_layers("input", outputs[0])
    weight_layers("input", outputs[1])
    assert set(trainable_variables()) == {"input_ELMo_W", "input_ELMo_gamma"}
    weight_layers("output", outputs[0])
    assert len(trainable_variables()) == 4


def test_no_coefficient_is_no_penalty(outputs):
    assert weight_layers("m", outputs[0])["regularization_op"][0].item() == 0.0


def test_gradients_reach_the_variables_and_an_optimizer_moves_them(outputs):
    variables = weight_layers("m", outputs[0]) and trainable_variables()
    optimizer = torch.optim.SGD(variables.values(), lr=0.1)
    losses = []
    for _ in range(5):
        mix = weight_layers("m", outputs[0], l2_coef=0.01)
        loss = mix["weighted_op"].square().mean() + mix["regularization_op"][0]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]


def test_a_name_keeps_its_number_of_layers(outputs):
    weight_layers("m", outputs[0])
    with pytest.raises(ConfigError, match="m_ELMo_W has 3 weights, but 2 layers"):
        weight_layers("m", {**outputs[0], "lm_embeddings": outputs[0]["lm_embeddings"][:, :2]})

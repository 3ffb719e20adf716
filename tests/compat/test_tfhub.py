"""TF-Hub's module: signatures, outputs, the four scalars."""

import numpy as np
import pytest
import torch
from tests.compat.golden import DIM, GOLDEN, MODEL, assert_close

from elmo.compat import tfhub
from elmo.embed.loading import load
from elmo.errors import ConfigError, InputError, WeightsError

TEXTS = ["the kettle is on the hob", "fog is in the reeds"]
TOKENS = {"tokens": [text.split() + [""] * (6 - len(text.split())) for text in TEXTS], "sequence_len": [6, 5]}


@pytest.fixture(scope="module")
def module():
    return tfhub.Module(MODEL)


def test_outputs_have_the_modules_names_and_shapes(module):
    outputs = module(TEXTS, signature="default", as_dict=True)
    shapes = {name: tuple(tensor.shape) for name, tensor in outputs.items()}
    assert shapes == {
        "word_emb": (2, 6, DIM // 2),
        "lstm_outputs1": (2, 6, DIM),
        "lstm_outputs2": (2, 6, DIM),
        "elmo": (2, 6, DIM),
        "default": (2, DIM),
        "sequence_len": (2,),
    }
    assert outputs["sequence_len"].tolist() == [6, 5]


def test_outputs_are_the_layers_that_encode_gives_from_zero(module):
    outputs = module(TEXTS, as_dict=True)
    for n, layers in enumerate(
        load(MODEL, state="zero", device="cpu").encode([t.split() for t in TEXTS], layers="all")
    ):
        T = layers.shape[1]
        assert_close(outputs["word_emb"][n, :T], layers[0, :, : DIM // 2])
        assert_close(outputs["lstm_outputs1"][n, :T], layers[1])
        assert_close(outputs["lstm_outputs2"][n, :T], layers[2])
        assert_close(outputs["elmo"][n, :T], layers.mean(0))
        assert_close(outputs["default"][n], layers.mean(0).mean(0))
    for name in ("word_emb", "lstm_outputs1", "lstm_outputs2", "elmo"):
        assert not outputs[name][1, 5:].any(), name


def test_both_signatures_agree(module):
    texts, tokens = module(TEXTS, as_dict=True), module(inputs=TOKENS, signature="tokens", as_dict=True)
    for name, tensor in texts.items():
        assert torch.equal(tensor, tokens[name]), name
    signatures = tfhub.load(MODEL).signatures
    assert torch.equal(signatures["default"](np.array(TEXTS))["elmo"], texts["elmo"])
    assert torch.equal(signatures["tokens"](**TOKENS)["elmo"], texts["elmo"])


def test_without_as_dict_the_sentence_vectors_come(module):
    assert torch.equal(module(TEXTS), module(TEXTS, as_dict=True)["default"])


def test_tokens_behind_the_length_do_not_count(module):
    longer = {"tokens": [["fog", "bell", "x"]], "sequence_len": [2]}
    shorter = {"tokens": [["fog", "bell"]], "sequence_len": np.array([2], dtype=np.int32)}
    one, other = (module(inputs, signature="tokens", as_dict=True) for inputs in (longer, shorter))
    assert one["elmo"].shape == (1, 3, DIM)
    assert torch.equal(one["elmo"][:, :2], other["elmo"])
    assert torch.equal(one["default"], other["default"])


def test_a_sentence_does_not_depend_on_calls_or_on_its_neighbours(module):
    alone = module(["fog is in the reeds"])
    torch.testing.assert_close(module(TEXTS)[1:], alone)
    assert torch.equal(module(["fog is in the reeds"]), alone)


def test_texts_are_cut_at_spaces_alone_and_may_be_bytes(module):
    words, T = tfhub.read_texts(["  a\tb  c ", "dé".encode(), ""])
    assert words == [["a\tb", "c"], ["dé"], []]
    assert T == 2
    assert not module([""]).any()


def test_four_scalars_learn_and_nothing_else():
    module = tfhub.Module(MODEL, trainable=True)
    learning = {name: p for name, p in module.named_parameters() if p.requires_grad}
    assert {name: p.numel() for name, p in learning.items()} == {"aggregation.weights": 3, "aggregation.scaling": 1}
    module(TEXTS, as_dict=True)["elmo"].sum().backward()
    assert all(p.grad is not None and bool(p.grad.any()) for p in learning.values())
    with torch.no_grad():
        module.aggregation.weights.copy_(torch.tensor([-50.0, 50.0, -50.0]))
        module.aggregation.scaling.fill_(2.0)
    outputs = module(TEXTS, as_dict=True)
    torch.testing.assert_close(outputs["elmo"], 2 * outputs["lstm_outputs1"])
    assert not any(p.requires_grad for p in tfhub.Module(MODEL).parameters())


@pytest.mark.parametrize(
    ("inputs", "signature", "message"),
    [
        ("one text", "default", "wants a list of texts, but found str"),
        (TOKENS, "default", "wants a list of texts, but found dict"),
        ([7], "default", "7 is int; a string is wanted"),
        ([b"\xff"], "default", "is not UTF-8"),
        (TEXTS, "tokens", "'tokens' and 'sequence_len'"),
        ({"tokens": [["a"]], "sequence_len": [1, 1]}, "tokens", "1 rows of tokens, but 2 lengths"),
        ({"tokens": [["a"], []], "sequence_len": [1, 0]}, "tokens", "row 1 has 0 tokens, but another has 1"),
        ({"tokens": [["a"]], "sequence_len": [2]}, "tokens", r"sequence_len\[0\] is 2, but the row has 1"),
    ],
)
def test_wrong_inputs_are_named(module, inputs, signature, message):
    with pytest.raises(InputError, match=message):
        module(inputs, signature=signature)


def test_wrong_models_and_signatures_are_named(module):
    with pytest.raises(ConfigError, match="signature is 'text'"):
        module(TEXTS, signature="text")
    with pytest.raises(ConfigError, match="has 3 LSTM layers"):
        tfhub.Module(GOLDEN / "bilm" / "deep3")
    with pytest.raises(WeightsError, match="is a TensorFlow graph"):
        tfhub.Module("https://tfhub.dev/google/elmo/2")

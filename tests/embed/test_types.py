"""What a type checker knows of `encode` and `Elmo.from_pretrained`: mypy judges each `assert_type` (`make types`).

A `type: ignore` that mypy does not need is an error there: so these lines prove that the mistake is found.
"""

import inspect
from pathlib import Path
from typing import Any, assert_type, get_type_hints

import numpy as np
import pytest
import torch
from torch import Tensor

import elmo
from elmo import Elmo, Embedder
from elmo.embed.encoding import Array
from elmo.text.tokens import Tokens

TEXTS = ["One text.", "And two."]
WORDS = [["One", "text"], ["Two"]]


def test_one_text_gives_one_array_or_tensor(embedder: Embedder) -> None:
    assert_type(embedder.encode("One text."), Array)
    assert_type(embedder.encode("One text.", layers="all", pooling="mean"), Array)
    assert_type(embedder.encode("One text.", convert_to_numpy=False), Tensor)
    array, tokens = embedder.encode("One text.", return_tokens=True)
    assert_type(array, Array)
    assert_type(tokens, Tokens)
    assert isinstance(array, np.ndarray)
    assert isinstance(tokens, Tokens)
    tensor, tokens = embedder.encode("One text.", convert_to_numpy=False, return_tokens=True)
    assert_type(tensor, Tensor)
    assert isinstance(tensor, Tensor)


def test_several_texts_give_a_list_and_pooled_ones_an_array(embedder: Embedder) -> None:
    assert_type(embedder.encode(TEXTS), list[Array])
    assert_type(embedder.encode(tuple(TEXTS)), list[Array])
    assert_type(embedder.encode(text for text in TEXTS), list[Array])
    assert_type(embedder.encode(WORDS, layers=0, normalize=True, batch_size=2), list[Array])
    assert_type(embedder.encode(TEXTS, pooling="max"), Array)
    assert_type(embedder.encode(TEXTS, convert_to_numpy=False), list[Tensor])
    assert_type(embedder.encode(WORDS, pooling="mean", convert_to_numpy=False), Tensor)
    assert isinstance(embedder.encode(iter(TEXTS)), list)
    assert isinstance(embedder.encode(TEXTS, pooling="max"), np.ndarray)
    assert isinstance(embedder.encode(WORDS, pooling="mean", convert_to_numpy=False), Tensor)


def test_tokens_come_back_as_they_were_given(embedder: Embedder) -> None:
    assert_type(embedder.encode(TEXTS, return_tokens=True), tuple[list[Array], list[Tokens]])
    assert_type(embedder.encode(TEXTS, pooling="mean", return_tokens=True), tuple[Array, list[Tokens]])
    vectors, words = embedder.encode(WORDS, return_tokens=True)
    assert_type(vectors, list[Array])
    assert_type(words, list[list[str]])
    assert words == WORDS
    pooled, words = embedder.encode(WORDS, pooling="max", convert_to_numpy=False, return_tokens=True)
    assert_type(pooled, Tensor)
    assert isinstance(pooled, Tensor)


def test_a_mistake_in_an_option_is_a_mistake_of_types(embedder: Embedder, model_directory: Path) -> None:
    with pytest.raises(elmo.ElmoError):
        embedder.encode(TEXTS, layers="middle")  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        embedder.encode(TEXTS, pool="mean")  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        Elmo.from_pretrained(model_directory, mixers=2)  # type: ignore[call-arg]
    with pytest.raises(elmo.ElmoError):
        Elmo.from_pretrained(model_directory, mixed_layers="middle")  # type: ignore[arg-type]


def test_the_module_is_typed(model_directory: Path) -> None:
    module = Elmo.from_pretrained(model_directory, mixes=2, dropout=0.0)
    assert_type(module, Elmo)
    assert_type(module.layers(WORDS), tuple[Tensor, Tensor])
    assert_type(module.mix_penalty(), Tensor)


@pytest.mark.parametrize("function", [elmo.load, Embedder.encode, Elmo.__init__, Elmo.from_pretrained])
def test_no_argument_and_no_result_is_any(function: Any) -> None:
    hints = get_type_hints(inspect.unwrap(getattr(function, "__func__", function)), localns={"Tensor": torch.Tensor})
    assert hints
    assert [name for name, hint in hints.items() if hint is Any] == []

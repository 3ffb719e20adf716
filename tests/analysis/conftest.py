"""A tiny embedder."""

import pytest
from tests.tiny import make_bilm

from elmo.embed.embedder import Embedder
from elmo.text.tokenizer import Tokenizer
from elmo.weights.loaded import LoadedModel


@pytest.fixture(scope="package")
def embedder() -> Embedder:
    return Embedder(LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer(rule="treebank")), device="cpu")

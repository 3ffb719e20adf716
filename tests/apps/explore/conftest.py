"""A tiny model and some sentences for the page."""

import pytest
from tests.tiny import make_bilm

from elmo.analysis.collection import packaged_passages
from elmo.analysis.textcollection import TextCollection
from elmo.apps.explore.data import Explorer
from elmo.embed.embedder import Embedder
from elmo.text.tokenizer import Tokenizer
from elmo.weights.loaded import LoadedModel


@pytest.fixture(scope="package")
def embedder() -> Embedder:
    return Embedder(LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer(rule="treebank")), device="cpu")


@pytest.fixture(scope="package")
def explorer(embedder: Embedder) -> Explorer:
    collection = TextCollection(embedder, packaged_passages(embedder.model.tokenizer))
    return Explorer(collection, model="tiny", source="packaged sentences")

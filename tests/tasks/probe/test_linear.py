"""The linear probe: finds what is linear in a layer, cannot find what is not there, and repeats itself."""

import numpy as np
import pytest
from tests.tasks.conftest import SAMPLES

from elmo.embed.module import Elmo
from elmo.tasks.embedding.layercache import CacheConfig, LayerStore
from elmo.tasks.examples import Example, Text
from elmo.tasks.probe.linear import ProbeConfig, probe_layers
from elmo.tasks.tagging.task import Tagging, TaggingConfig
from elmo.weights.loaded import LoadedModel

READER = Tagging(TaggingConfig(chunks=False))


def test_a_probe_learns_the_training_data_and_repeats_itself(model: LoadedModel) -> None:
    train = READER.read(str(SAMPLES / "pos-train.conllu"))
    config = ProbeConfig(epochs=60, batch_size=16, learning_rate=0.05)
    first = probe_layers(Elmo(model).eval(), train, train, train, config=config)
    assert first.test == first.dev
    assert min(first.dev) > 80
    assert first == probe_layers(Elmo(model).eval(), train, train, train, config=config)


def test_a_label_of_the_word_alone_is_in_layer_0_and_one_of_its_context_is_not(model: LoadedModel) -> None:
    random = np.random.default_rng(0)
    examples = []
    for _ in range(150):
        words = tuple(random.choice(["red", "tower"], 4).tolist())
        # The word before: nothing in the token layer tells it.
        examples.append(Example((Text(words),), ("start", *words[:-1])))
    config = ProbeConfig(epochs=30, batch_size=64, learning_rate=0.05)
    found = probe_layers(Elmo(model).eval(), examples[:100], examples[100:], config=config)
    assert found.dev[1] > 95
    assert found.dev[0] < 75


def test_labels_that_training_lacks_are_never_right(model: LoadedModel) -> None:
    train = [Example((Text(("a", "b")),), ("X", "Y"))]
    other = [Example((Text(("a", "b")),), ("X", "Z"))]
    found = probe_layers(
        Elmo(model).eval(), train, other, config=ProbeConfig(epochs=30, batch_size=2, learning_rate=0.1)
    )
    assert found.dev == pytest.approx([50.0] * 3)


def test_a_probe_reads_layers_from_a_mapped_file_too(model: LoadedModel, tmp_path: object) -> None:
    train = READER.read(str(SAMPLES / "pos-train.conllu"))
    config = ProbeConfig(epochs=3, batch_size=16)
    mapped = LayerStore(CacheConfig(folder=tmp_path, memory=0))  # type: ignore[arg-type]
    assert probe_layers(Elmo(model).eval(), train, train, config=config, store=mapped) == probe_layers(
        Elmo(model).eval(), train, train, config=config
    )

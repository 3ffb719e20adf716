"""Configurations know the names and shapes of their weights without building anything."""

from dataclasses import replace

import pytest
import torch
from tests.weights.making import CONFIGS

from elmo.model.architecture import BiLMConfig
from elmo.model.bilm import BiLM
from elmo.model.dictionaries import ManyLangsConfig
from elmo.model.stacks import JointLSTMConfig

BOTH = ManyLangsConfig(
    words=9, word_dim=3, alphabet=7, embedding_dim=4, filters=((1, 2), (2, 5)), highways=2, characters=6, output_dim=8
)
LSTM = CONFIGS["plain"].lstm
OTHERS = {
    "words and characters": BiLMConfig(tokens=BOTH, lstm=LSTM),
    "words of a dictionary": BiLMConfig(tokens=ManyLangsConfig(words=9, word_dim=3, output_dim=8), lstm=LSTM),
    "characters of a dictionary": BiLMConfig(tokens=replace(BOTH, words=0, word_dim=0), lstm=LSTM),
    "joint": BiLMConfig(tokens=BOTH, lstm=JointLSTMConfig(input_dim=8, cell_dim=5, projection_dim=8, layers=3)),
}


@pytest.mark.parametrize("config", {**CONFIGS, **OTHERS}.values(), ids={**CONFIGS, **OTHERS}.keys())
def test_the_shapes_are_those_of_the_network(config: BiLMConfig) -> None:
    with torch.device("meta"):
        state = BiLM(config).state_dict()
    shapes = dict(zip(("settled_h", "settled_c"), config.state_shapes, strict=True)) | config.shapes()
    assert shapes == {name: tuple(tensor.shape) for name, tensor in state.items()}

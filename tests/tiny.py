"""A tiny random biLM and its configuration, for every test that needs one."""

import torch

from elmo.model.architecture import BiLMConfig
from elmo.model.bilm import BiLM
from elmo.model.characters import CharCNNConfig
from elmo.model.settled import settle
from elmo.model.stacks import BiLSTMConfig
from elmo.text.chars import boundary_rows

TINY = BiLMConfig(
    tokens=CharCNNConfig(embedding_dim=4, filters=((1, 4), (2, 4), (3, 8)), highways=1, output_dim=8),
    lstm=BiLSTMConfig(input_dim=8, cell_dim=16, projection_dim=8, layers=2, cell_clip=3.0, projection_clip=3.0),
)


def make_bilm(config: BiLMConfig = TINY, *, seed: int = 0, scale: float = 1.5) -> BiLM:
    """A random biLM with a settled state; weights larger than at the start of training, so that context matters."""
    bilm = BiLM(config)
    bilm.initialize(torch.Generator().manual_seed(seed))
    with torch.no_grad():
        for parameter in bilm.lstm.parameters():
            parameter.mul_(scale)
        for layer in bilm.lstm.layers:
            layer.bias.normal_(0.0, 0.3, generator=torch.Generator().manual_seed(seed + 1))
        if isinstance(config.tokens, CharCNNConfig):
            for weight in bilm.tokens.filters:
                weight.mul_(10)
            boundaries = bilm.tokens(torch.from_numpy(boundary_rows()))
        else:
            boundaries = bilm.tokens(torch.tensor([[1], [2]]))
    settle(bilm, boundaries)
    return bilm.requires_grad_(False)

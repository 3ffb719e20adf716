"""The optimizer that a configuration names."""

from collections.abc import Mapping

from torch import nn

from elmo.pretrain.step.optimizers.adagrad import Adagrad, AdagradConfig
from elmo.pretrain.step.optimizers.adam import Adam, AdamConfig
from elmo.pretrain.step.optimizers.muon import Muon, MuonConfig
from elmo.pretrain.step.optimizers.optimizer import Optimizer

OptimizerConfig = AdamConfig | AdagradConfig | MuonConfig


def make_optimizer(parameters: Mapping[str, nn.Parameter], config: OptimizerConfig, *, bf16: bool = False) -> Optimizer:
    """For parameters by their names in the model. `bf16`: products of matrices may be computed in it."""
    match config:
        case AdagradConfig():
            return Adagrad(parameters, config)
        case AdamConfig():
            return Adam(parameters, config)
        case MuonConfig():
            return Muon(parameters, config, bf16=bf16)

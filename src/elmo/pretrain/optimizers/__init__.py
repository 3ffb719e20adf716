"""The optimizers: the paper's Adagrad, AdamW, and Muon."""

from elmo.pretrain.optimizers.adagrad import AdagradConfig
from elmo.pretrain.optimizers.adam import AdamConfig
from elmo.pretrain.optimizers.make import OptimizerConfig, make_optimizer
from elmo.pretrain.optimizers.muon import MuonConfig
from elmo.pretrain.optimizers.optimizer import Optimizer

__all__ = ["AdagradConfig", "AdamConfig", "MuonConfig", "Optimizer", "OptimizerConfig", "make_optimizer"]

"""The optimizers: the paper's Adagrad, AdamW, and Muon."""

from elmo.pretrain.step.optimizers.adagrad import AdagradConfig
from elmo.pretrain.step.optimizers.adam import AdamConfig
from elmo.pretrain.step.optimizers.make import OptimizerConfig, make_optimizer
from elmo.pretrain.step.optimizers.muon import MuonConfig
from elmo.pretrain.step.optimizers.optimizer import Optimizer

__all__ = ["AdagradConfig", "AdamConfig", "MuonConfig", "Optimizer", "OptimizerConfig", "make_optimizer"]

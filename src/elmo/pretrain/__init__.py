"""Training of biLMs: `pretrain` a new one, `finetune` one on a domain, `train_softmax` for one that has none."""

from typing import TYPE_CHECKING

from elmo.lazy import loaded_on_use

if TYPE_CHECKING:
    from elmo.pretrain.config import TrainConfig
    from elmo.pretrain.finetuning import FinetuneResult, finetune
    from elmo.pretrain.pretraining import pretrain
    from elmo.pretrain.result import Result
    from elmo.pretrain.softmax import SoftmaxResult, train_softmax
    from elmo.pretrain.step.optimizers import AdagradConfig, AdamConfig, MuonConfig

__all__ = [
    "AdagradConfig",
    "AdamConfig",
    "FinetuneResult",
    "MuonConfig",
    "Result",
    "SoftmaxResult",
    "TrainConfig",
    "finetune",
    "pretrain",
    "train_softmax",
]

__getattr__, __dir__ = loaded_on_use(
    __name__,
    {
        "AdagradConfig": "elmo.pretrain.step.optimizers",
        "AdamConfig": "elmo.pretrain.step.optimizers",
        "MuonConfig": "elmo.pretrain.step.optimizers",
        "FinetuneResult": "elmo.pretrain.finetuning",
        "Result": "elmo.pretrain.result",
        "SoftmaxResult": "elmo.pretrain.softmax",
        "TrainConfig": "elmo.pretrain.config",
        "finetune": "elmo.pretrain.finetuning",
        "pretrain": "elmo.pretrain.pretraining",
        "train_softmax": "elmo.pretrain.softmax",
    },
)

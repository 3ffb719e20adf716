"""A training in a process of its own, which can be told to kill itself: `training_process.py STORE RUN OPTIONS`."""

import json
import os
import signal
import sys
from pathlib import Path

import torch

from elmo.pretrain.config import TrainConfig
from elmo.pretrain.pretraining import pretrain
from elmo.pretrain.trainer import Trainer


def main() -> None:
    store, run, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    torch.set_num_threads(1)
    kill_before = options.pop("kill_before", None)
    resume = options.pop("resume", False)
    step = Trainer.step

    def watched(self, number, **arguments):
        if number == kill_before:
            os.kill(os.getpid(), signal.SIGKILL)
        return step(self, number, **arguments)

    Trainer.step = watched
    result = pretrain(store, TrainConfig.from_dict(options), run, resume=resume, device="cpu", tensorboard=False)
    print(result.status)
    for name in group_threads():
        print("still running:", name)


def group_threads() -> list[str]:
    """The threads of a process group; Linux alone names them."""
    names = (task.joinpath("comm").read_text().strip() for task in Path("/proc/self/task").glob("*"))
    return sorted(name for name in names if "gloo" in name)


if __name__ == "__main__":
    main()

"""Random numbers of a run: each purpose of each step has its own generator, so a resumed run needs no saved states."""

from typing import Literal, NamedTuple

import numpy as np
import torch

Purpose = Literal["weights", "negatives", "dropout", "reset"]
PURPOSES: dict[str, int] = {"weights": 0, "negatives": 1, "dropout": 2, "reset": 3}


def generator_for(
    purpose: Purpose, *, seed: int, step: int = 0, rank: int = 0, device: torch.device | str = "cpu"
) -> torch.Generator:
    """A generator that depends on nothing but the arguments."""
    return torch.Generator(device).manual_seed(seed_for(purpose, seed=seed, step=step, rank=rank))


def seed_for(purpose: Purpose, *, seed: int, step: int = 0, rank: int = 0) -> int:
    """What such a generator is seeded with."""
    state = np.random.SeedSequence([seed, PURPOSES[purpose], step, rank]).generate_state(1, np.uint64)[0]
    return int(state) >> 1  # manual_seed takes signed numbers


class Generators(NamedTuple):
    """What a step draws from, on its device."""

    dropout: torch.Generator
    negatives: torch.Generator
    reset: torch.Generator

    @classmethod
    def on(cls, device: torch.device) -> "Generators":
        """Generators that must be seeded before each step."""
        return cls(*(torch.Generator(device) for _ in cls._fields))

    def seed(self, *, seed: int, step: int, rank: int) -> None:
        """For one step. Dropout differs between processes; negatives and resets are the same in all."""
        self.dropout.manual_seed(seed_for("dropout", seed=seed, step=step, rank=rank))
        self.negatives.manual_seed(seed_for("negatives", seed=seed, step=step))
        self.reset.manual_seed(seed_for("reset", seed=seed, step=step))

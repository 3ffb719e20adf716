"""The guard: watches the losses of a run for numbers that are not finite and for divergence, and says what to do."""

from dataclasses import dataclass
from typing import Literal

from elmo.errors import ConfigError

MEMORY = 0.98  # of the smoothed loss: about fifty steps
SETTLING = 100  # steps before the smoothed loss is judged

Verdict = Literal["good", "skipped", "diverged"]


@dataclass(frozen=True, kw_only=True)
class GuardConfig:
    """When a run goes back to an earlier checkpoint, and how much slower it then goes on."""

    bad_steps: int = 5  # skipped steps in a row
    rise: float | None = 2.0  # nats of the smoothed loss above its lowest
    backoff: float = 0.5  # the rate is multiplied by this
    rollbacks: int = 3  # after which the run gives up

    def __post_init__(self) -> None:
        if self.bad_steps < 1:
            raise ConfigError(f"guard.bad_steps is {self.bad_steps}; it must be at least 1")
        if self.rise is not None and not self.rise > 0:
            raise ConfigError(f"guard.rise is {self.rise}; it must be above 0, or null for no watch")
        if not 0 < self.backoff < 1:
            raise ConfigError(f"guard.backoff is {self.backoff}; it must be above 0 and below 1")
        if self.rollbacks < 0:
            raise ConfigError(f"guard.rollbacks is {self.rollbacks}; it must not be negative")


@dataclass(kw_only=True)
class Guard:
    """What has been seen so far. Its fields are part of a checkpoint."""

    steps: int = 0
    smoothed: float = 0.0
    lowest: float | None = None
    bad_in_row: int = 0

    def judge(self, loss: float, *, bad: bool, config: GuardConfig) -> Verdict:
        """Take in one step."""
        if bad:
            self.bad_in_row += 1
            return "diverged" if self.bad_in_row >= config.bad_steps else "skipped"
        self.bad_in_row = 0
        self.steps += 1
        weight = max(1 - MEMORY, 1 / self.steps)  # a plain mean at first
        self.smoothed += weight * (loss - self.smoothed)
        if self.steps < SETTLING:
            return "good"
        self.lowest = self.smoothed if self.lowest is None else min(self.lowest, self.smoothed)
        return "diverged" if config.rise is not None and self.smoothed > self.lowest + config.rise else "good"

    def is_stable(self, config: GuardConfig) -> bool:
        """Whether nothing was wrong or on its way to be: a state to go back to."""
        if self.bad_in_row:
            return False
        return self.lowest is None or config.rise is None or self.smoothed <= self.lowest + config.rise / 2

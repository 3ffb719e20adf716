"""The learning rate over a run: warm-up, hold, linear decay."""

from dataclasses import dataclass

from elmo.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class ScheduleConfig:
    """Fractions of the run's steps. `hold = 1` with `warmup = 0` is a constant rate."""

    warmup: float = 0.02
    hold: float = 0.35  # where the decay begins
    final: float = 0.01  # of the rate, at the last step

    def __post_init__(self) -> None:
        if not 0 <= self.warmup <= self.hold <= 1:
            raise ConfigError(
                f"schedule.warmup is {self.warmup} and schedule.hold {self.hold}; wanted: 0 <= warmup <= hold <= 1"
            )
        if not 0 <= self.final <= 1:
            raise ConfigError(f"schedule.final is {self.final}; it must be 0 to 1")


def learning_rate_fraction(step: int, steps: int, config: ScheduleConfig) -> float:
    """The fraction of the full learning rate at a step, counted from 0, of a run of `steps`."""
    warmup, hold = config.warmup * steps, config.hold * steps
    if step < warmup:
        return (step + 1) / (warmup + 1)
    if step < hold or hold >= steps:
        return 1.0
    return 1.0 - (1.0 - config.final) * min(1.0, (step + 1 - hold) / (steps - hold))

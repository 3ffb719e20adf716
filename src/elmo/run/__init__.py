"""What every training run shares: stopping, metrics and curves, random numbers, processes."""

from typing import TYPE_CHECKING

from elmo.lazy import loaded_on_use

if TYPE_CHECKING:
    from elmo.run.curves import draw_curves
    from elmo.run.distributed import World, join_world, started_world
    from elmo.run.metrics import Metrics, read_metrics
    from elmo.run.randomness import Generators, generator_for, seed_for
    from elmo.run.schedule import ScheduleConfig, learning_rate_fraction
    from elmo.run.stopping import StopRequest

__all__ = [
    "Generators",
    "Metrics",
    "ScheduleConfig",
    "StopRequest",
    "World",
    "draw_curves",
    "generator_for",
    "join_world",
    "learning_rate_fraction",
    "read_metrics",
    "seed_for",
    "started_world",
]

__getattr__, __dir__ = loaded_on_use(
    __name__,
    {
        "Generators": "elmo.run.randomness",
        "Metrics": "elmo.run.metrics",
        "ScheduleConfig": "elmo.run.schedule",
        "StopRequest": "elmo.run.stopping",
        "World": "elmo.run.distributed",
        "draw_curves": "elmo.run.curves",
        "generator_for": "elmo.run.randomness",
        "join_world": "elmo.run.distributed",
        "learning_rate_fraction": "elmo.run.schedule",
        "read_metrics": "elmo.run.metrics",
        "seed_for": "elmo.run.randomness",
        "started_world": "elmo.run.distributed",
    },
)

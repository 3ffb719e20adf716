"""How a run ended, and where it has left what."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from elmo.lm.perplexity import Perplexity

MODEL = "model"
Status = Literal["finished", "no longer improving", "interrupted", "time limit"]


@dataclass(frozen=True, kw_only=True)
class Result:
    """How a run ended. Unless it is `done`, the same call with `resume=True` goes on."""

    status: Status
    step: int
    steps: int
    run: Path
    checkpoint: Path
    model: Path | None  # the finished model: the best weights by held-out perplexity
    perplexity: Perplexity | None  # of those, on the whole held-out split

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do."""
        return self.status in ("finished", "no longer improving")

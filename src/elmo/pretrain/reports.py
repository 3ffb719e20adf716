"""What a run tells while it goes: a bar on a terminal, log lines, metrics. The one place of the loop that reports."""

import logging
import math
from pathlib import Path
from types import TracebackType
from typing import Any

from tqdm import tqdm

from elmo.pretrain.forecast import duration
from elmo.pretrain.plan import Plan
from elmo.pretrain.progress import Evaluation, Progress
from elmo.run.metrics import Metrics

logger = logging.getLogger(__name__)

DIRECTIONS = ("forward", "backward")


class Reports:
    """A context for one run; an inactive one (of a process that is not the first) says nothing."""

    def __init__(
        self,
        run: Path,
        plan: Plan,
        progress: Progress,
        *,
        loss: str,
        active: bool,
        bar: bool | None,
        tensorboard: bool | None,
    ) -> None:
        self._progress, self._plan, self._loss = progress, plan, f"{loss}_loss"
        self._metrics: Metrics | None = None
        self._speed = self._mean_loss = math.nan  # of the last steps
        self._bar: Any = None  # a tqdm
        if active:
            run.mkdir(parents=True, exist_ok=True)
            self._metrics = Metrics(run, after_step=progress.step, tensorboard=tensorboard)
            # disable=None: shown on a terminal only.
            disable = None if bar is None else not bar
            self._bar = tqdm(total=plan.steps, initial=progress.step, unit="step", disable=disable, dynamic_ncols=True)

    @property
    def is_heard(self) -> bool:
        """Whether anybody reads what is told."""
        return self._metrics is not None and logger.isEnabledFor(logging.INFO)

    def planned(self, lines: list[str]) -> None:
        """Tell what the run will be."""
        for line in lines:
            logger.info("%s", line)

    def stepped(self) -> None:
        """A step was begun; on a GPU its numbers come later."""
        if self._bar is not None:
            self._bar.update(self._progress.step - self._bar.n)

    def trained(self, losses: list[float], *, learning_rate: float, norm: float, speed: float) -> None:
        """Some steps were done: mean losses of each direction, the highest gradient norm, symbols a second."""
        progress = self._progress
        mean = sum(losses) / len(losses)
        values = {self._loss: mean, **dict(zip(DIRECTIONS, losses, strict=False))}
        self._write(
            "train",
            {
                **values,
                "epoch": progress.step / self._plan.steps_per_epoch,
                "symbols": progress.symbols,
                "rate": learning_rate,
                "gradient_norm": norm,
                "symbols_per_second": speed,
                "seconds": progress.seconds,
                "skipped": progress.skipped,
            },
        )
        self._speed, self._mean_loss = speed, mean
        if self._bar is not None:
            best = progress.best
            told = {self._loss: f"{mean:.3f}", "tokens/s": f"{speed:,.0f}"}
            if best is not None:
                told["perplexity"] = f"{progress.evaluations[-1].perplexity.average:.1f}"
            self._bar.set_postfix(told)

    def evaluated(self, evaluation: Evaluation) -> None:
        """A held-out perplexity was measured."""
        p = evaluation.perplexity
        self._write(
            "heldout",
            {"forward": p.forward, "backward": p.backward, "average": p.average, "unknown_rate": p.unknown_rate},
        )
        if self._metrics is not None:
            progress = self._progress
            if not evaluation.step:
                logger.info("held-out perplexity before the first step: %.2f (%s symbols)", p.average, f"{p.symbols:,}")
                return
            left = self._plan.steps - progress.step
            seconds = left * progress.seconds / max(1, progress.step)
            logger.info(
                "step %s of %s (epoch %.1f): held-out perplexity %.2f%s, training loss %.3f, %s tokens/s%s",
                f"{evaluation.step:,}",
                f"{self._plan.steps:,}",
                progress.step / self._plan.steps_per_epoch,
                p.average,
                " (the best)" if progress.best is evaluation else "",
                self._mean_loss,
                f"{self._speed:,.0f}",
                f", {duration(seconds)} left" if left else "",
            )

    def rolled_back(self, progress: Progress, *, diverged_at: int) -> None:
        """The run went back to an earlier checkpoint and goes on from there."""
        self._progress = progress
        self._write("rollback", {"diverged_at": diverged_at, "rate_factor": progress.rate_factor})
        if self._bar is not None:
            self._bar.update(progress.step - self._bar.n)

    def __enter__(self) -> "Reports":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._metrics is not None:
            self._metrics.__exit__(kind, error, trace)
        if self._bar is not None:
            self._bar.close()

    def _write(self, kind: str, values: dict[str, float | int | None]) -> None:
        if self._metrics is not None:
            self._metrics.write(kind, self._progress.step, values)

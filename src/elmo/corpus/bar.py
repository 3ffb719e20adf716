"""How far a build has come, as a value for callbacks, and a bar of it for terminals."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Never

from tqdm import tqdm

Stage = Literal["reading", "merging", "ordering", "writing"]


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of a build; each stage goes from 0 to 1."""

    stage: Stage
    fraction: float | None  # of the stage; unknown when reading standard input
    words: int  # handled so far; when ordering, distinct ones
    seconds: float  # since the stage began

    @property
    def words_per_second(self) -> float:
        return self.words / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """An estimate of the time to the end of the stage; none before anything is done."""
        return self.seconds * (1 - self.fraction) / self.fraction if self.fraction else None


ProgressCallback = Callable[[Moment], None]


class StageClock:
    """Counts words and work of one stage and tells the callback."""

    def __init__(self, stage: Stage, callback: ProgressCallback, *, total: int | None) -> None:
        self._stage, self._callback, self._total = stage, callback, total
        self._words = 0
        self._start = time.monotonic()

    def advance(self, *, done: int, words: int) -> None:
        """`done` of the total is done; `words` more were handled. What an earlier run did is not counted as speed."""
        self._words += words
        fraction = None if self._total is None else min(done / self._total, 1.0) if self._total else 1.0
        self._callback(Moment(self._stage, fraction, self._words, time.monotonic() - self._start))


class ProgressBar:
    """A callback that draws on standard error if that is a terminal, and does nothing elsewhere."""

    PARTS = 1000

    def __init__(self) -> None:
        self._bar: tqdm[Never] | None = None
        self._stage: Stage | None = None

    def __call__(self, moment: Moment) -> None:
        if moment.stage != self._stage:
            self.close()
            self._stage = moment.stage
            layout = "{desc} {percentage:3.0f}% |{bar}| {elapsed}<{remaining}{postfix}"
            if moment.fraction is None:
                layout = "{desc} {elapsed}{postfix}"
            self._bar = tqdm(total=self.PARTS, desc=f"corpus: {moment.stage}", bar_format=layout, disable=None)
        bar = self._bar
        if bar is not None and not bar.disable:
            bar.set_postfix_str(f"{moment.words:,} words, {moment.words_per_second:,.0f}/s", refresh=False)
            bar.update(int(self.PARTS * (moment.fraction or 0)) - bar.n)
            bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

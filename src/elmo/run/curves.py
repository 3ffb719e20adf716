"""A picture of a run's curves, where matplotlib is installed."""

import importlib.util
import logging
from pathlib import Path
from typing import Any

from elmo.disk.writing import write_atomically
from elmo.run.metrics import read_metrics

logger = logging.getLogger(__name__)

FILE = "curves.png"


def draw_curves(run: Path) -> Path | None:
    """Write `curves.png`: training loss and held-out perplexity over the steps. None without matplotlib."""
    if importlib.util.find_spec("matplotlib") is None:
        logger.info("matplotlib is not installed, so no picture of the curves is drawn (pip install matplotlib)")
        return None
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogFormatter, StrMethodFormatter

    lines = read_metrics(run)
    train = [line for line in lines if line["kind"] == "train"]
    heldout = [line for line in lines if line["kind"] == "heldout"]
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    name = next((key for line in train for key in line if key.endswith("_loss")), None)
    if name is not None and (points := _points(train, name)):
        left.plot(*zip(*points, strict=True), linewidth=0.8)
        left.set(title=f"training: {name.replace('_', ' ')}", xlabel="step", ylabel="nats a position")
    for key in ("forward", "backward", "average"):
        if points := _points(heldout, key):
            right.plot(*zip(*points, strict=True), marker=".", label=key)
    if heldout:
        right.set(title="held-out perplexity (full softmax)", xlabel="step", yscale="log")
        right.yaxis.set_major_formatter(LogFormatter())  # 60, not 6 x 10^1
        right.yaxis.set_minor_formatter(LogFormatter(labelOnlyBase=False))
        right.legend()
    for axes in (left, right):
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    path = run / FILE
    with write_atomically(path) as file:
        FigureCanvasAgg(figure).print_png(file)  # type: ignore[no-untyped-call]
    return path


def _points(lines: list[dict[str, Any]], name: str) -> list[tuple[int, float]]:
    """Step and value of the lines that have a number of that name."""
    return [(line["step"], line[name]) for line in lines if type(line.get(name)) in (int, float)]

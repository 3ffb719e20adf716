"""A picture of a run's curves, where matplotlib is installed."""

import importlib.util
import logging
from pathlib import Path

from elmo.pretrain.metrics import read_metrics
from elmo.text.writing import write_atomically

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
    if train:
        name = next(key for key in train[0] if key.endswith("_loss"))
        left.plot([line["step"] for line in train], [line[name] for line in train], linewidth=0.8)
        left.set(title=f"training: {name.replace('_', ' ')}", xlabel="step", ylabel="nats a position")
    for key in ("forward", "backward", "average"):
        points = [(line["step"], line[key]) for line in heldout if line.get(key) is not None]
        if points:
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

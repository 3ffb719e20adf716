"""The mixes of a task run: how much of each layer it takes, over its epochs and in the end, and a picture of that.

The paper's Figure 2 is such a picture. [Peters et al. 2018]
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from elmo.analysis.figurefile import COLOURS, SHAPES, figure_file
from elmo.analysis.layernames import layer_title
from elmo.disk.guarded.plainfiles import read_json, shortened
from elmo.errors import InputError
from elmo.run.metrics import read_metrics
from elmo.tasks.training.directory import TASK, find_trained_task

MOST_LAYERS = 100


class LearnedMix(NamedTuple):
    """One mix at one moment: the share of each layer, which come to 1, and the scale of the whole."""

    layers: list[float]
    gamma: float


class RunMixes(NamedTuple):
    """The mixes of a run by their names ("input", "output"): in its model, and after each epoch, as far as recorded."""

    final: dict[str, LearnedMix]
    epochs: list[tuple[int, dict[str, LearnedMix]]]


def read_mixes(run: Path) -> RunMixes:
    """The mixes of a run's directory, or of the model that it has left."""
    path = find_trained_task(run) / TASK
    final = _mixes(read_json(path, refusal=InputError).get("mixes"), where=str(path))
    if not final:
        raise InputError(f"{path}: the model has no mixes; it was trained without ELMo")
    sizes = {name: len(mix.layers) for name, mix in final.items()}
    epochs = []
    for line in read_metrics(run):
        if line["kind"] == "mix" and type(line.get("epoch")) is int:
            found = _mixes(line.get("mixes"), where=f"{run}: metrics, step {line['step']}")
            if {name: len(mix.layers) for name, mix in found.items()} == sizes:
                epochs.append((line["epoch"], found))
    return RunMixes(final, epochs)


def draw_mixes(mixes: RunMixes, path: Path) -> None:
    """Write a picture whose format is that of the name: for each mix its layers, and how they came to be."""
    names = list(mixes.final)
    with figure_file(path, names, size=(7.2, 2.9 * len(names))) as figure:
        panels = figure.subplots(len(names), 2, squeeze=False, width_ratios=[1, 1.6])
        for name, (left, right) in zip(names, panels, strict=True):
            _draw_final(left, name, mixes.final[name])
            _draw_epochs(right, [(epoch, found[name]) for epoch, found in mixes.epochs])


def _draw_final(axes: Any, name: str, mix: LearnedMix) -> None:
    numbers = range(len(mix.layers))
    bars = axes.bar(numbers, mix.layers, color=[COLOURS[number % len(COLOURS)] for number in numbers])
    axes.bar_label(bars, fmt="%.2f", fontsize=8)
    axes.set_xticks(numbers, [layer_title(number).partition(":")[0] for number in numbers], fontsize=8)
    axes.set_ylim(0, max(1.15 * max(mix.layers), 0.1))
    axes.set_title(f"ELMo at the {name}: gamma {mix.gamma:.2f}", fontsize=10)


def _draw_epochs(axes: Any, epochs: list[tuple[int, LearnedMix]]) -> None:
    if not epochs:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no epochs are recorded", ha="center", va="center", fontsize=9)
        return
    for layer in range(len(epochs[0][1].layers)):
        axes.plot(
            [epoch for epoch, _ in epochs],
            [mix.layers[layer] for _, mix in epochs],
            color=COLOURS[layer % len(COLOURS)],
            marker=SHAPES[layer % len(SHAPES)],
            markersize=4,
            label=layer_title(layer),
        )
    axes.set(xlabel="epoch", ylabel="share of each layer")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(fontsize=8)


def _mixes(values: Any, *, where: str) -> dict[str, LearnedMix]:
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise InputError(f"{where}: mixes are {shortened(values)}, but a table by their names is wanted")
    found = {}
    for name, value in values.items():
        layers, gamma = (value.get("layers"), value.get("gamma")) if isinstance(value, Mapping) else (None, None)
        numbers = [*layers, gamma] if isinstance(layers, list) and 0 < len(layers) <= MOST_LAYERS else []
        if not numbers or not all(type(number) in (int, float) for number in numbers):
            raise InputError(f"{where}: the mix {shortened(name)} is {shortened(value)}, which is none")
        shares: list[float] = [float(number) for number in numbers]
        found[str(name)[:40]] = LearnedMix(shares[:-1], shares[-1])
    return found

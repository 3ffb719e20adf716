"""Figures 1 and 2: scores over the size of the training data, and what the mixes have learned."""

import statistics
from collections.abc import Sequence

from elmo.reproduce.arms import ARMS, BASELINE, INPUT
from elmo.reproduce.comparison import Comparison
from elmo.reproduce.report.drawing import Series, line_plot, shares_plot
from elmo.reproduce.report.parts import Picture, ReportPart, ReportTable
from elmo.reproduce.report.scores import caveats, curve_cells

PLACES = ((INPUT, "input"), ("both", "input"), ("both", "output"), ("output", "output"))


def figure_1(sets: Sequence[Comparison]) -> ReportPart:
    """Scores over the share of the training data, without ELMo and with it."""
    part = ReportPart(name="figure1", title="Figure 1: less training data")
    rows: list[list[str]] = []
    for one in sets:
        fractions = [f for f in sorted({*one.data.fractions, one.whole}) if one.of(BASELINE, f) and one.of(INPUT, f)]
        if len(fractions) < 2:
            continue
        rows += curve_cells(one, fractions)
        labels = [f"{100 * fraction:g} %" for fraction in fractions]
        series = [_series(one, arm, fractions) for arm in (BASELINE, INPUT)]
        svg = line_plot(one.data.title.partition(",")[0], labels, series, y_title=one.data.metric)
        told = "; ".join(
            f"{label}: {a:.1f} and {b:.1f}"
            for label, a, b in zip(labels, series[0].values, series[1].values, strict=True)
        )
        alt = f"{one.data.title}: {one.data.metric} without ELMo and with it. {told}."
        part.pictures.append(Picture(name=f"figure1-{one.data.name}", svg=svg, alt=alt))
    if rows:
        columns = ["training data", "baseline", "ELMo at the input", "gain", "seeds"]
        caption = "Test scores by the share of the training data, mean and deviation over seeds"
        part.tables.append(ReportTable(caption=caption, columns=columns, rows=rows))
        part.notes.append("Less data has more epochs, by the root of what is missing: 1 % ten times as many.")
    part.notes += caveats([one for one in sets if one.data.fractions])
    return part


def figure_2(sets: Sequence[Comparison]) -> ReportPart:
    """The shares of the layers at each place."""
    part = ReportPart(name="figure2", title="Figure 2: what the mixes learn")
    rows = []
    for one in sets:
        bars = []
        for arm, place in PLACES:
            found = one.mixes(arm, place)
            if found is None:
                continue
            shares, gamma = found
            name = place if arm != "both" else f"{place}*"
            bars.append((name, shares))
            told = [f"{share:.3f}" for share in shares]
            rows.append([f"{one.data.title}: {ARMS[arm].title}, {place}", *told, f"{gamma:.2f}"])
        if bars:
            svg = shares_plot(one.data.title.partition(",")[0], bars)
            told_bars = "; ".join(f"{name}: {', '.join(f'{s:.2f}' for s in shares)}" for name, shares in bars)
            alt = f"{one.data.title}: shares of the layers, tokens first. {told_bars}."
            part.pictures.append(Picture(name=f"figure2-{one.data.name}", svg=svg, alt=alt))
    if rows:
        layers = max(len(row) for row in rows) - 2
        columns = ["mix", "tokens", *(f"LSTM {n}" for n in range(1, layers)), "gamma"]
        caption = "Mean shares of the layers in the learned mixes"
        part.tables.append(ReportTable(caption=caption, columns=columns, rows=rows))
        part.notes.append("A star in a plot: a task model that has mixes at both places.")
    part.notes += caveats(sets)
    return part


def _series(one: Comparison, arm: str, fractions: Sequence[float]) -> Series:
    found = [one.values(arm, fraction=fraction) for fraction in fractions]
    errors = [statistics.stdev(values) if len(values) > 1 else 0.0 for values in found]
    return Series("baseline" if arm == BASELINE else "ELMo", [statistics.mean(values) for values in found], errors)

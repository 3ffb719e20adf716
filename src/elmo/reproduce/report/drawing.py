"""Plots as SVG that people who confuse colours can read: colours of Okabe and Ito, and a shape or a label for each."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

# Okabe and Ito (2008), told apart with any kind of colour vision; not the yellow, which is faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
INK, FAINT = "#222222", "#c8c8c8"
WIDTH, HEIGHT = 340, 250
FONT = "font-family='system-ui, sans-serif'"


class Series(NamedTuple):
    """A line through points; `errors` are their deviations."""

    name: str
    values: list[float]
    errors: list[float]


def line_plot(title: str, labels: Sequence[str], series: Sequence[Series], *, y_title: str) -> str:
    """Lines over a few places, which stand at equal distances."""
    values = [v + s * e for line in series for v, e in zip(line.values, line.errors, strict=True) for s in (-1, 1)]
    low, high, ticks = _scale(min(values), max(values))
    left, right, top, bottom = 44.0, WIDTH - 14.0, 46.0, HEIGHT - 42.0

    def x(n: int) -> float:
        return left + 12 + (right - left - 24) * (n / (len(labels) - 1) if len(labels) > 1 else 0.5)

    def y(value: float) -> float:
        return bottom - (bottom - top) * (value - low) / (high - low)

    parts = []
    for tick in ticks:
        parts.append(_line(left, y(tick), right, y(tick), FAINT, 0.7))
        parts.append(_text(left - 5, y(tick) + 4, f"{tick:g}", anchor="end"))
    for n, label in enumerate(labels):
        parts.append(_text(x(n), bottom + 16, label, anchor="middle"))
    parts.append(_text((left + right) / 2, HEIGHT - 8, "share of the training data", anchor="middle"))
    for number, line in enumerate(series):
        colour = COLOURS[number % len(COLOURS)]
        points = [(x(n), y(v)) for n, v in enumerate(line.values)]
        dashes = "" if number % 2 else " stroke-dasharray='6 3'"
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='2'{dashes}/>")
        for (a, b), value, error in zip(points, line.values, line.errors, strict=True):
            if error:
                parts.append(_line(a, y(value - error), a, y(value + error), colour, 1.5))
            parts.append(_mark(a, b, number, colour))
        across = left + number * 130
        parts.append(_mark(across + 6, 33, number, colour))
        parts.append(_text(across + 16, 37, line.name))
    return _svg(title, HEIGHT, [*parts, _text(left, 16, f"{title} ({y_title})", size=13, weight="600")])


def shares_plot(title: str, bars: Sequence[tuple[str, list[float]]]) -> str:
    """A bar for each mix, cut into the shares of the layers."""
    left, right, step, first = 64.0, WIDTH - 10.0, 34.0, 52.0
    parts = [_text(8, 16, title, size=13, weight="600")]
    for layer in range(max(len(shares) for _, shares in bars)):
        parts.append(
            f"<rect x='{8 + 100 * layer}' y='27' width='12' height='12' fill='{COLOURS[layer % len(COLOURS)]}'/>"
        )
        parts.append(_text(25 + 100 * layer, 38, "tokens" if layer == 0 else f"LSTM {layer}"))
    for row, (name, shares) in enumerate(bars):
        at, across = first + row * step, left
        parts.append(_text(left - 6, at + 18, name, anchor="end"))
        for layer, share in enumerate(shares):
            width = share * (right - left)
            colour = COLOURS[layer % len(COLOURS)]
            parts.append(
                f"<rect x='{across:.1f}' y='{at}' width='{width:.1f}' height='26' fill='{colour}' "
                "stroke='#ffffff' stroke-width='1'/>"
            )
            if width > 26:
                parts.append(
                    _text(across + width / 2, at + 18, f"{share:.2f}", anchor="middle", colour="#ffffff", weight="600")
                )
            across += width
    return _svg(title, int(first + len(bars) * step + 6), parts)


def pairs_plot(title: str, rows: Sequence[tuple[str, float, float]], names: tuple[str, str]) -> str:
    """Two bars for each row, such as the paper's figure and ours; below zero they go to the left."""
    step, first, left, right = 46.0, 50.0, 84.0, WIDTH - 44.0
    low, high = min(0.0, *(min(a, b) for _, a, b in rows)), max(1.0, *(max(a, b) for _, a, b in rows))

    def x(value: float) -> float:
        return left + (right - left) * (value - low) / (high - low)

    parts = [_text(8, 16, title, size=13, weight="600")]
    for n, name in enumerate(names):
        parts.append(f"<rect x='{8 + 130 * n}' y='27' width='12' height='12' fill='{COLOURS[n]}'/>")
        parts.append(_text(25 + 130 * n, 38, name))
    for row, (name, *values) in enumerate(rows):
        at = first + row * step
        parts.append(_text(left - 6, at + 24, name, anchor="end"))
        for n, value in enumerate(values):
            start, end = sorted((x(0), x(value)))
            parts.append(
                f"<rect x='{start:.1f}' y='{at + 4 + 18 * n}' width='{max(end - start, 1):.1f}' height='16' "
                f"fill='{COLOURS[n]}'/>"
            )
            parts.append(_text(end + 4, at + 16 + 18 * n, f"{value:.1f}"))
    parts.append(_line(x(0), first, x(0), first + step * len(rows), INK, 1))
    return _svg(title, int(first + len(rows) * step + 6), parts)


def _scale(low: float, high: float) -> tuple[float, float, list[float]]:
    """Round numbers around the values, four to seven of them."""
    wide = max(high - low, 1e-3)
    step = next(s * 10.0**e for e in range(-4, 4) for s in (1, 2, 5) if wide / (s * 10.0**e) <= 5)
    first, last = int(low // step), int(-(-high // step))
    ticks = [round(n * step, 6) for n in range(first, max(last, first + 1) + 1)]
    return ticks[0], ticks[-1], ticks


def _svg(title: str, height: int, parts: Sequence[str]) -> str:
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' width='{WIDTH}' height='{height}'"
    ground = f"<rect width='{WIDTH}' height='{height}' fill='#ffffff'/>"
    return "\n".join([f"{head} role='img'><title>{escape(title)}</title>{ground}", *parts, "</svg>"])


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float) -> str:
    return f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' stroke='{colour}' stroke-width='{width:g}'/>"


def _mark(x: float, y: float, number: int, colour: str) -> str:
    """A circle, a square, a diamond, in turn."""
    if number % 3 == 0:
        return f"<circle cx='{x:.1f}' cy='{y:.1f}' r='4.5' fill='{colour}'/>"
    turn = f" transform='rotate(45 {x:.1f} {y:.1f})'" if number % 3 == 2 else ""
    return f"<rect x='{x - 4:.1f}' y='{y - 4:.1f}' width='8' height='8' fill='{colour}'{turn}/>"


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, weight: str = "400", colour: str = INK
) -> str:
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' font-size='{size}' font-weight='{weight}' {FONT} "
        f"fill='{colour}'>{escape(text)}</text>"
    )

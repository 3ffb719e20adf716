"""A picture of a word's uses: its vectors in two dimensions, layer by layer, each point with its sentence.

N uses, L layers, D dimensions.
"""

import importlib.util
import io
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from elmo.analysis.examples import Use
from elmo.analysis.fonts import DEFAULT, fonts_for
from elmo.analysis.labels import place_labels
from elmo.analysis.projection import principal_plane
from elmo.analysis.similarity import place_of
from elmo.disk.writing import write_file
from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError, InputError, MissingExtraError
from elmo.text.tokenizer import Tokenizer

SUFFIXES = (".png", ".svg", ".pdf")
# Told apart by people who do not see all colours; and the shapes differ too. [Okabe and Ito 2008]
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000", "#F0E442")
SHAPES = ("o", "s", "^", "D", "v", "P", "X", "*")
CONTEXT = 38  # characters on each side of a word
PANEL = 266.0  # typographic points of a layer's panel, both ways


class Spot(NamedTuple):
    """A word at a place in a sentence, and the group that it is drawn with."""

    group: str
    tokens: list[str]
    place: int

    @property
    def excerpt(self) -> str:
        """The word in brackets, with some of what stands around it."""
        before, after = " ".join(self.tokens[: self.place]), " ".join(self.tokens[self.place + 1 :])
        if len(before) > CONTEXT:
            before = "... " + before[-CONTEXT:].partition(" ")[2]
        if len(after) > CONTEXT:
            after = after[:CONTEXT].rpartition(" ")[0] + " ..."
        return f"{before} [{self.tokens[self.place]}] {after}".strip()


def spots_of_senses(uses: Iterable[Use], tokenizer: Tokenizer) -> list[Spot]:
    """Uses whose senses are known, a group for each sense."""
    spots = []
    for use in uses:
        tokens = tokenizer.tokenize(use.sentence).words
        spots.append(Spot(use.sense, tokens, place_of(use.word, tokens)))
    return spots


def spots_of_words(
    sentences: Iterable[Sequence[str]], words: Sequence[str], *, most: int, ignore_case: bool
) -> list[Spot]:
    """The first `most` uses of each word, at most one of a sentence, a group for each word."""
    wanted = {word.casefold() if ignore_case else word: word for word in words}
    counts = dict.fromkeys(words, 0)
    spots = []
    for tokens in sentences:
        for place, token in enumerate(tokens):
            word = wanted.get(token.casefold() if ignore_case else token)
            if word is not None and counts[word] < most:
                counts[word] += 1
                spots.append(Spot(word, list(tokens), place))
                break
        if all(count == most for count in counts.values()):
            break
    missing = [word for word, count in counts.items() if count == 0]
    if missing:
        raise InputError(f"{', '.join(map(repr, missing))}: in none of the sentences of the text")
    return spots


def draw_spots(embedder: Embedder, spots: Sequence[Spot], path: Path) -> None:
    """Write a picture whose format is that of the name: .png, .svg or .pdf."""
    check_picture(path)
    if len(spots) < 3:
        raise InputError(f"{len(spots)} use(s) of the word were found; a picture needs three")
    from matplotlib import rc_context

    fonts = fonts_for([*(spot.excerpt for spot in spots), *(spot.group for spot in spots)])
    vectors = _vectors(embedder, spots)  # [L, N, D]
    with rc_context({"font.family": fonts}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # told once by then
        write_file(path, _drawn(spots, vectors, path.suffix[1:].lower()))


def _drawn(spots: Sequence[Spot], vectors: npt.NDArray[np.floating], kind: str) -> bytes:
    """The picture of vectors [L, N, D] as a file."""
    from matplotlib.figure import Figure

    groups = list(dict.fromkeys(spot.group for spot in spots))
    rows = -(-len(spots) // 2)
    figure = Figure(figsize=(3.8 * len(vectors), 4.2 + 0.19 * rows), layout="constrained")
    halves: Any = figure.subfigures(2, 1, height_ratios=[4.0, 0.2 + 0.19 * rows])
    above, below = halves
    for layer, axes in enumerate(np.atleast_1d(above.subplots(1, len(vectors)))):
        points, explained = principal_plane(vectors[layer])
        reach = max(float(np.abs(points).max()) * 1.15, 1e-3)
        for number, (spot, (x, y)) in enumerate(zip(spots, points.tolist(), strict=True), start=1):
            style = groups.index(spot.group)
            first = next(n for n, other in enumerate(spots, start=1) if other.group == spot.group) == number
            axes.scatter(
                x,
                y,
                color=COLOURS[style % len(COLOURS)],
                marker=SHAPES[style % len(SHAPES)],
                label=spot.group if first else None,
                s=45,
                alpha=0.8,
            )
        scale = PANEL / 2 / reach  # typographic points of a unit
        for label in place_labels([(x * scale, y * scale) for x, y in points.tolist()], side=PANEL):
            (x, y), (right, up) = label.point, label.middle
            axes.annotate(
                label.text,
                (x / scale, y / scale),
                xytext=(right / scale, up / scale),
                arrowprops={"arrowstyle": "-", "linewidth": 0.4, "color": "0.5"} if label.needs_line else None,
                fontsize=7,
                ha="center",
                va="center",
            )
        title = "tokens: no context" if layer == 0 else f"LSTM {layer} ({explained:.0%} of the variance)"
        axes.set(title=title, xticks=[], yticks=[], xlim=(-reach, reach), ylim=(-reach, reach))
        axes.title.set_fontsize(10)
    above.get_axes()[-1].legend(fontsize=8)
    for number, spot in enumerate(spots, start=1):
        column, row = divmod(number - 1, rows)
        x, y = 0.01 + 0.5 * column, 1 - (row + 0.5) / (rows + 0.5)
        colour = COLOURS[groups.index(spot.group) % len(COLOURS)]
        below.text(x, y, str(number), fontsize=7, color=colour, weight="bold", family=DEFAULT)
        below.text(x + 0.025, y, spot.excerpt, fontsize=7, parse_math=False)
    drawn = io.BytesIO()
    figure.savefig(drawn, format=kind, dpi=110)
    return drawn.getvalue()


def check_picture(path: Path) -> None:
    """Refuse early what could not be drawn in the end."""
    if path.suffix.lower() not in SUFFIXES:
        raise ConfigError(f"{path}: a picture's name ends in {', '.join(SUFFIXES)}")
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtraError("pictures need matplotlib; `pip install matplotlib`")


def _vectors(embedder: Embedder, spots: Sequence[Spot]) -> npt.NDArray[np.floating]:
    layers = embedder.encode([spot.tokens for spot in spots], layers="all")  # [L, T, D] each
    return np.stack([layer[:, spot.place] for layer, spot in zip(layers, spots, strict=True)], axis=1)

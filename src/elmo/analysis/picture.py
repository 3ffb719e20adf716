"""A picture of a word's uses: its vectors in two dimensions, layer by layer, each point with its sentence.

N uses, L layers, D dimensions.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from elmo.analysis.examples import Use
from elmo.analysis.figurefile import COLOURS, SHAPES, check_picture, figure_file
from elmo.analysis.fonts import DEFAULT
from elmo.analysis.index.wordindex import WordIndex
from elmo.analysis.labels import place_labels
from elmo.analysis.layernames import layer_title
from elmo.analysis.projection import principal_plane
from elmo.analysis.similarity import place_of
from elmo.embed.embedder import Embedder
from elmo.errors import InputError
from elmo.text.tokenizer import Tokenizer

Floats = npt.NDArray[np.floating]

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


def spots_of_index(
    index: WordIndex, words: Sequence[str], *, most: int, ignore_case: bool
) -> tuple[list[Spot], Floats]:
    """At most `most` uses of each word in an index, spread over all, and their vectors in its layers: [L, N, D]."""
    uses = [index.uses(word, ignore_case=ignore_case).spread(most) for word in words]
    missing = [word for word, found in zip(words, uses, strict=True) if not len(found)]
    if missing:
        raise InputError(f"{', '.join(map(repr, missing))}: in none of the sentences of {index.folder}")
    spots = [Spot(word, n.tokens, n.place) for word, found in zip(words, uses, strict=True) for n in found.neighbors()]
    layers = [np.concatenate([found.vectors(layer) for found in uses]) for layer in index.layers]
    return spots, np.stack(layers)


def draw_spots(embedder: Embedder, spots: Sequence[Spot], path: Path) -> None:
    """Write a picture whose format is that of the name: .png, .svg or .pdf."""
    check_picture(path)
    _require_enough(spots)
    layers = embedder.encode([spot.tokens for spot in spots], layers="all")  # [L, T, D] each
    vectors = np.stack([layer[:, spot.place] for layer, spot in zip(layers, spots, strict=True)], axis=1)
    draw_vectors(spots, vectors, list(map(str, range(len(vectors)))), path)


def draw_vectors(spots: Sequence[Spot], vectors: Floats, layers: Sequence[str], path: Path) -> None:
    """The same of vectors [L, N, D] that are there already; `layers` are the names of their layers."""
    _require_enough(spots)
    rows = -(-len(spots) // 2)
    texts = [*(spot.excerpt for spot in spots), *(spot.group for spot in spots)]
    with figure_file(path, texts, size=(max(7.0, 3.8 * len(vectors)), 4.2 + 0.19 * rows)) as figure:
        _draw(figure, spots, vectors, layers, rows)


def _require_enough(spots: Sequence[Spot]) -> None:
    if len(spots) < 3:
        raise InputError(f"{len(spots)} use(s) of the word were found; a picture needs three")


def _draw(figure: Any, spots: Sequence[Spot], vectors: Floats, layers: Sequence[str], rows: int) -> None:
    """A panel for each layer above, the sentences in two columns below."""
    groups = list(dict.fromkeys(spot.group for spot in spots))
    above, below = figure.subfigures(2, 1, height_ratios=[4.0, 0.2 + 0.19 * rows])
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
        title = layer_title(layers[layer]) + ("" if layers[layer] == "0" else f" ({explained:.0%} of the variance)")
        axes.set(title=title, xticks=[], yticks=[], xlim=(-reach, reach), ylim=(-reach, reach))
        axes.title.set_fontsize(10)
    above.get_axes()[-1].legend(fontsize=8)
    for number, spot in enumerate(spots, start=1):
        column, row = divmod(number - 1, rows)
        x, y = 0.01 + 0.5 * column, 1 - (row + 0.5) / (rows + 0.5)
        colour = COLOURS[groups.index(spot.group) % len(COLOURS)]
        below.text(x, y, str(number), fontsize=7, color=colour, weight="bold", family=DEFAULT)
        below.text(x + 0.025, y, spot.excerpt, fontsize=7, parse_math=False)

"""Two sentences token by token and layer by layer: how alike each pair of their tokens is, and a picture of it.

L layers, T and U tokens of the sentences.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from elmo.analysis.figurefile import figure_file
from elmo.analysis.layernames import layer_title
from elmo.analysis.similarity import cosines
from elmo.embed.embedder import Embedder
from elmo.errors import InputError

MOST_TOKENS = 60  # of a sentence in a picture; more cannot be read
NUMBERED_TOKENS = 14  # with at most so many, each cell has its number
CELL = 0.34  # inches


class SentencePair(NamedTuple):
    """The tokens of two sentences, and the cosine of each pair of them in each layer: [L, T, U]."""

    first: list[str]
    second: list[str]
    cosines: npt.NDArray[np.floating]


def compare_sentences(
    embedder: Embedder, first: str, second: str, *, mean: npt.NDArray[np.floating] | float = 0.0
) -> SentencePair:
    """Every token of one raw sentence with every token of another, in every layer; seen from `mean` [L, 1, D]."""
    layers, tokens = embedder.encode([first, second], layers="all", normalize=True, return_tokens=True)
    for text, found in zip((first, second), tokens, strict=True):
        if not found.words:
            raise InputError(f"{text!r} has no tokens; a sentence is wanted")
    return SentencePair(list(tokens[0].words), list(tokens[1].words), cosines(*layers, mean=mean))


def draw_pair(pair: SentencePair, path: Path) -> None:
    """Write a picture whose format is that of the name: a panel for each layer, the darker the more alike."""
    longest = max(len(pair.first), len(pair.second))
    if longest > MOST_TOKENS:
        raise InputError(f"a sentence has {longest} tokens; a picture shows at most {MOST_TOKENS}")
    L, T, U = pair.cosines.shape
    side = CELL if max(T, U) <= NUMBERED_TOKENS else 0.6 * CELL
    size = (L * max(2.6, side * U + 1.2) + 0.8, max(2.2, side * T + 1.4))
    with figure_file(path, [*pair.first, *pair.second], size=size) as figure:
        panels = np.atleast_1d(figure.subplots(1, L))
        for layer, axes in enumerate(panels):
            values = pair.cosines[layer]
            image = axes.imshow(values, cmap="cividis_r", vmin=min(0.0, float(pair.cosines.min())), vmax=1.0)
            axes.set_title(layer_title(layer), fontsize=10)
            axes.set_xticks(range(U), pair.second, rotation=90, fontsize=8, parse_math=False)
            axes.set_yticks(range(T), pair.first if layer == 0 else [""] * T, fontsize=8, parse_math=False)
            axes.tick_params(length=0)
            if max(T, U) <= NUMBERED_TOKENS:
                for row, column in np.ndindex(T, U):
                    value = float(values[row, column])
                    dark = "white" if value > 0.6 else "black"
                    shown = f"{value:.1f}".replace("-0.0", "0.0")
                    axes.text(column, row, shown, ha="center", va="center", fontsize=6, color=dark)
        figure.colorbar(image, ax=list(panels), shrink=0.8, label="cosine")

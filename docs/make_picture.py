"""Draws the uses of an ambiguous word in two dimensions, layer by layer: python docs/make_picture.py [WORD] [MODEL].

The two directions of largest variance (PCA) of each layer's vectors of the packaged uses of the word; colours are the
senses. Needs the extra `plots`. The README shows the picture of the packaged model.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import elmo
from elmo.analysis.examples import read_senses
from elmo.analysis.projection import principal_plane
from elmo.analysis.senses import word_vectors

PICTURES = Path(__file__).parent / "pictures"
COLOURS = ("tab:blue", "tab:orange")


def draw(word: str, model: str | None, path: Path) -> None:
    """Write the picture."""
    uses = [use for use in read_senses() if use.word == word]
    if not uses:
        sys.exit(f"{word!r} is not among the words {', '.join(dict.fromkeys(use.word for use in read_senses()))}")
    senses = list(dict.fromkeys(use.sense for use in uses))
    vectors = word_vectors(elmo.load(model, device="cpu"), uses)  # [L, N, D]
    figure = Figure(figsize=(3.6 * len(vectors), 3.6), layout="constrained")
    for layer, axes in enumerate(figure.subplots(1, len(vectors))):
        points, share = principal_plane(vectors[layer])
        for sense, colour in zip(senses, COLOURS, strict=True):
            own = [n for n, use in enumerate(uses) if use.sense == sense]
            axes.scatter(points[own, 0], points[own, 1], color=colour, label=sense, s=60)
        name = "tokens: no context" if layer == 0 else f"LSTM {layer}"
        axes.set_title(name if layer == 0 else f"{name} ({share:.0%} of the variance)", fontsize=10)
        axes.set_xticks([])
        axes.set_yticks([])
        reach = max(float(np.abs(points).max()) * 1.15, 1e-3)
        axes.set_xlim(-reach, reach)
        axes.set_ylim(-reach, reach)
    figure.get_axes()[-1].legend(title=word, fontsize=9)
    path.parent.mkdir(exist_ok=True)
    FigureCanvasAgg(figure).print_png(path)


def main() -> None:
    word = sys.argv[1] if len(sys.argv) > 1 else "bank"
    path = PICTURES / f"{word}.png"
    draw(word, sys.argv[2] if len(sys.argv) > 2 else None, path)
    print(path)


if __name__ == "__main__":
    main()

"""Pictures as files: .png, .svg or .pdf by their name, with fonts for their text; the same numbers, the same bytes."""

import importlib.util
import io
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from elmo.analysis.fonts import fonts_for
from elmo.disk.writing import write_file
from elmo.errors import ConfigError, MissingExtraError

SUFFIXES = (".png", ".svg", ".pdf")
# Told apart by people who do not see all colours; and shapes and lines differ too. [Okabe and Ito 2008]
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000", "#F0E442")
SHAPES = ("o", "s", "^", "D", "v", "P", "X", "*")
_DATES = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}  # of the day when it was drawn; left out


def check_picture(path: Path) -> None:
    """Refuse early what could not be drawn in the end."""
    if path.suffix.lower() not in SUFFIXES:
        raise ConfigError(f"{path}: a picture's name ends in {', '.join(SUFFIXES)}")
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtraError("pictures need matplotlib; install it with: pip install matplotlib")


@contextmanager
def figure_file(path: Path, texts: Iterable[str], *, size: tuple[float, float]) -> Iterator[Any]:
    """An empty figure (width and height in inches) to draw in, written to `path` when the block ends well.

    `texts`: what will be written in it, to find fonts that have its characters.
    """
    check_picture(path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"font.family": fonts_for(texts), "svg.hashsalt": "elmo"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # told once by then
        figure = Figure(figsize=size, layout="constrained")
        yield figure
        drawn = io.BytesIO()
        suffix = path.suffix.lower()
        figure.savefig(drawn, format=suffix[1:], dpi=110, metadata=_DATES.get(suffix))
    write_file(path, drawn.getvalue())

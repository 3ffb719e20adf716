"""Fonts for a picture's text in any script: matplotlib's own, and of those installed as many as the characters need."""

import logging
from collections.abc import Iterable, Mapping

logger = logging.getLogger(__name__)

DEFAULT = "DejaVu Sans"  # comes with matplotlib
BOXES = "Last Resort"  # so does this one, which has a box for every character


def fonts_for(texts: Iterable[str]) -> list[str]:
    """Names of fonts that have the characters together, best first; what no font has is told in a warning."""
    from matplotlib.font_manager import FontProperties, findfont, fontManager
    from matplotlib.ft2font import FT2Font

    fonts = [DEFAULT]
    wanted = {character for text in texts for character in text if character.isprintable()}
    wanted = _missing(wanted, FT2Font(findfont(FontProperties(family=[DEFAULT]))).get_charmap())
    for entry in sorted(fontManager.ttflist, key=lambda entry: (entry.name, entry.fname)) if wanted else ():
        if entry.name.startswith(BOXES):
            continue
        try:
            left = _missing(wanted, FT2Font(entry.fname).get_charmap())
        except (OSError, RuntimeError):  # a font that cannot be read is none
            continue
        if len(left) < len(wanted) and entry.name not in fonts:
            fonts.append(entry.name)
            wanted = left
        if not wanted:
            break
    if wanted:
        shown = " ".join(sorted(wanted)[:5])
        logger.warning(
            "no installed font has %d of the characters (%s ...): boxes are drawn for them; install a font for the "
            "script, such as one of Noto's, and draw again",
            len(wanted),
            shown,
        )
    return fonts


def _missing(characters: set[str], charmap: Mapping[int, object]) -> set[str]:
    return {character for character in characters if ord(character) not in charmap}

"""Texts with marked places as one HTML file that needs nothing else: no script, no font, nothing from the network."""

import html
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# Turned by the golden angle, neighbours in a list of any length have colours that are far apart.
GOLDEN_ANGLE = 137.508
_HEAD = """<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 1.05rem/2.1 Georgia, serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a;
  background: #fff; }}
h1 {{ font-size: 1.3rem; line-height: 1.3; }}
h2 {{ font: bold .85rem/1.4 sans-serif; margin: 1.6rem 0 .2rem; color: #555; }}
p {{ white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }}
mark {{ color: inherit; padding: .12em .2em; border-radius: .25em; border-bottom: 2px solid; }}
mark > sub {{ font: bold .62em/1 sans-serif; margin-left: .25em; }}
</style>
</head>
<body>
<h1>{title}</h1>
"""


@dataclass(frozen=True)
class Mark:
    """Characters start .. end - 1 and what they are; marks of one group have one colour. `told`: shown on hovering."""

    start: int
    end: int
    label: str
    group: str
    told: str = ""


@dataclass(frozen=True)
class MarkedText:
    """A text with its marks, which may lie inside of each other."""

    text: str
    marks: tuple[Mark, ...]
    heading: str = ""


def html_page(title: str, marked_texts: Iterable[MarkedText], *, language: str) -> Iterator[str]:
    """The file in pieces; `language` is the code of its texts. Groups get their colours in the order of the text."""
    yield _HEAD.format(title=html.escape(title), language=html.escape(language))
    colours: dict[str, float] = {}
    for marked in marked_texts:
        if marked.heading:
            yield f"<h2>{html.escape(marked.heading)}</h2>\n"
        for mark in marked.marks:
            colours.setdefault(mark.group, len(colours) * GOLDEN_ANGLE % 360)
        yield f"<p>{''.join(_marked(marked, colours))}</p>\n"
    yield "</body>\n</html>\n"


def _marked(marked: MarkedText, colours: dict[str, float]) -> Iterator[str]:
    """The text with its marks as elements. One that another one ends inside of is closed there and opened again."""
    marks = [mark for mark in marked.marks if mark.start < mark.end]
    edges = sorted({edge for mark in marks for edge in (mark.start, mark.end)})
    opened: list[Mark] = []
    before = 0
    for edge in edges:
        yield html.escape(marked.text[before:edge])
        before = edge
        again: list[Mark] = []
        while any(mark.end == edge for mark in opened):
            mark = opened.pop()
            yield _close(mark, whole=mark.end == edge)
            if mark.end != edge:
                again.insert(0, mark)
        begins = sorted((mark for mark in marks if mark.start == edge), key=lambda mark: -mark.end)
        for mark in [*again, *begins]:
            yield _open(mark, colours[mark.group])
            opened.append(mark)
    yield html.escape(marked.text[before:])


def _open(mark: Mark, hue: float) -> str:
    style = f"background: hsl({hue:.0f} 85% 88%); border-color: hsl({hue:.0f} 60% 45%)"
    return f'<mark style="{style}" title="{html.escape(mark.told or mark.label)}">'


def _close(mark: Mark, *, whole: bool) -> str:
    return f"<sub>{html.escape(mark.label)}</sub></mark>" if whole else "</mark>"

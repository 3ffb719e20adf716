"""What a report is made of, whatever it is written as: parts with tables, pictures and sentences.

Cells and sentences may have `**strong**` and `*emphasis*`; nothing else in them means anything.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class ReportTable:
    """A table. The first cell of a row is its name. `caption`: what a reader who sees nothing else must know."""

    caption: str
    columns: list[str]
    rows: list[list[str]]


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A drawing in SVG. `alt` says what is to be seen in it, with its figures."""

    name: str
    svg: str
    alt: str


@dataclass(kw_only=True)
class ReportPart:
    """A table or figure of the paper, made again."""

    name: str
    title: str
    texts: list[str] = field(default_factory=list)
    tables: list[ReportTable] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what differs from the paper, what is missing

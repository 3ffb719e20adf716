"""A report as one HTML page that needs nothing else: no script, no network, its pictures inside."""

import base64
import re
from collections.abc import Iterator, Sequence
from html import escape

from elmo.reproduce import paper
from elmo.reproduce.report.facts import Facts
from elmo.reproduce.report.findings import PaperFinding
from elmo.reproduce.report.parts import Picture, ReportPart, ReportTable

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 84rem; padding: 0 1rem 3rem; }
p, li { max-width: 60rem; }
h1, h2 { line-height: 1.2; }
h1, h2, p, li { overflow-wrap: anywhere; }
h2 { margin-top: 2.5rem; }

.scroll { overflow-x: auto; margin: 1rem 0; }
.scroll:focus-visible { outline: 2px solid #0072b2; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .4rem; }
th, td { padding: .3rem .7rem; text-align: left; border-bottom: 1px solid #8886; vertical-align: top; }
thead th { border-bottom-width: 2px; white-space: nowrap; }
tbody th { font-weight: 400; min-width: 9rem; }
.pictures { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: 0; max-width: 100%; }
img { max-width: 100%; height: auto; border: 1px solid #8886; border-radius: .3rem; background: #fff; }
.verdict { white-space: nowrap; font-weight: 600; }
.wordy td:last-child { max-width: 60rem; }
nav ul { columns: 2; padding-left: 1.2rem; }
@media (max-width: 40rem) {
  nav ul { columns: 1; }
  th, td { padding: .3rem .4rem; }
  caption span { display: inline-block; position: sticky; left: 0; max-width: calc(100vw - 2rem); }
  .wordy table { table-layout: fixed; width: 100%; overflow-wrap: anywhere; }
  .wordy thead th:nth-child(2) { width: 6.4rem; }
  .wordy tbody th, .verdict { min-width: 0; white-space: normal; }
}
"""


def report_page(title: str, parts: Sequence[ReportPart], findings: Sequence[PaperFinding], facts: Facts) -> str:
    """The whole page."""
    return "".join(f"{line}\n" for line in _lines(title, parts, findings, facts))


def _lines(title: str, parts: Sequence[ReportPart], findings: Sequence[PaperFinding], facts: Facts) -> Iterator[str]:
    yield "<!DOCTYPE html>"
    yield f"<html lang='en'><head><meta charset='utf-8'><title>{escape(title)}</title>"
    yield "<meta name='viewport' content='width=device-width, initial-scale=1'>"
    yield "<link rel='icon' href='data:,'>"  # else a browser asks the network for one
    yield f"<style>{STYLE}</style></head><body><main>"
    yield f"<h1>{escape(title)}</h1><p>Beside {escape(paper.TITLE)}.</p>"
    yield "<nav aria-label='Contents'><ul>"
    for name, told in [
        *([("findings", "The paper's findings")] if findings else []),
        *((p.name, p.title) for p in parts),
    ]:
        yield f"<li><a href='#{escape(name)}'>{escape(told)}</a></li>"
    yield "</ul></nav>"
    yield from (f"<p>{_marked(line)}</p>" for line in facts.lines)
    if facts.missing:
        yield "<h2>What is missing</h2><ul>"
        yield from (f"<li>{_marked(line)}</li>" for line in facts.missing)
        yield "</ul>"
    yield from _findings(findings)
    for part in parts:
        yield from _part(part)
    for table in (facts.options, facts.files):
        if table is not None:
            yield from _table(table, within="Facts")
    yield "</main></body></html>"


def _part(part: ReportPart) -> Iterator[str]:
    yield f"<section id='{escape(part.name)}'><h2>{escape(part.title)}</h2>"
    yield from (f"<p>{_marked(text)}</p>" for text in part.texts)
    for table in part.tables:
        yield from _table(table, within=part.title)
    if part.pictures:
        yield "<div class='pictures'>"
        yield from map(_picture, part.pictures)
        yield "</div>"
    if part.notes:
        yield "<ul>"
        yield from (f"<li>{_marked(note)}</li>" for note in part.notes)
        yield "</ul>"
    yield "</section>"


def _table(table: ReportTable, *, within: str) -> Iterator[str]:
    """In a frame of its own, which is named by the part too: two tables may have one caption."""
    caption = f"<span>{_marked(table.caption)}</span>"  # stays in sight where the table is moved
    yield f"<div class='scroll' tabindex='0' role='region' aria-label='{escape(within)}: {escape(table.caption)}'>"
    yield f"<table><caption>{caption}</caption><thead><tr>"
    yield from (f"<th scope='col'>{_marked(column)}</th>" for column in table.columns)
    yield "</tr></thead><tbody>"
    for first, *rest in table.rows:
        yield f"<tr><th scope='row'>{_marked(first)}</th>{''.join(f'<td>{_marked(cell)}</td>' for cell in rest)}</tr>"
    yield "</tbody></table></div>"


def _findings(findings: Sequence[PaperFinding]) -> Iterator[str]:
    if not findings:
        return
    yield "<section id='findings'><h2>The paper's findings</h2>"
    yield "<div class='scroll wordy' tabindex='0' role='region' aria-label='Findings'><table>"
    yield "<caption><span>Each finding of the paper, and whether it held here</span></caption><thead><tr>"
    yield "<th scope='col'>finding</th><th scope='col'>here</th><th scope='col'>figures</th></tr></thead><tbody>"
    for found in findings:
        told = escape("; ".join(found.figures))
        claim = escape(found.claim)
        yield f"<tr><th scope='row'>{claim}</th><td class='verdict'>{found.verdict}</td><td>{told}</td></tr>"
    yield "</tbody></table></div></section>"


def _picture(picture: Picture) -> str:
    content = base64.b64encode(picture.svg.encode()).decode()
    return f"<figure><img src='data:image/svg+xml;base64,{content}' alt='{escape(picture.alt)}'></figure>"


def _marked(text: str) -> str:
    """The few marks of cells and sentences as HTML."""
    found = escape(text).replace(" ± ", "\u00a0±\u00a0")  # a line does not end there
    found = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", found)
    found = re.sub(r"(?<![\w*])\*(?!\s)(.+?)\*(?![\w*])", r"<em>\1</em>", found)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", found)

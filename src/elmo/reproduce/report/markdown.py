"""A report as Markdown, its pictures as files beside it."""

from collections.abc import Iterator, Sequence

from elmo.reproduce import paper
from elmo.reproduce.report.facts import Facts
from elmo.reproduce.report.findings import PaperFinding
from elmo.reproduce.report.parts import ReportPart, ReportTable

PICTURES = "pictures"


def markdown(
    title: str, parts: Sequence[ReportPart], findings: Sequence[PaperFinding], facts: Facts, *, pictures: str
) -> str:
    """The whole text; `pictures` is the folder of the drawings, as links have it."""
    lines = [f"# {title}", "", f"Beside {paper.TITLE}.", ""]
    lines += [*(line + "  " for line in facts.lines[:-1]), facts.lines[-1], ""]
    if facts.missing:
        lines += ["## What is missing", "", *(f"- {line}" for line in facts.missing), ""]
    lines += _findings(findings)
    for part in parts:
        lines += _part(part, pictures)
    for table in (facts.options, facts.files):
        if table is not None:
            lines += ["", *markdown_table(table)]
    return "\n".join(lines).rstrip() + "\n"


def markdown_table(table: ReportTable) -> list[str]:
    """A table, its caption above it."""
    lines = [f"{table.caption}:", "", _row(table.columns), "|---" * len(table.columns) + "|"]
    return [*lines, *map(_row, table.rows), ""]


def _part(part: ReportPart, pictures: str) -> Iterator[str]:
    yield from (f"## {part.title}", "")
    for text in part.texts:
        yield from (text, "")
    for table in part.tables:
        yield from markdown_table(table)
    for picture in part.pictures:
        yield from (f"![{picture.alt}]({pictures}/{picture.name}.svg)", "")
    if part.notes:
        yield from (*(f"- {note}" for note in part.notes), "")


def _findings(findings: Sequence[PaperFinding]) -> list[str]:
    if not findings:
        return []
    rows = [[found.claim, f"**{found.verdict}**", "; ".join(found.figures)] for found in findings]
    return ["## The paper's findings", "", _row(["finding", "here", "figures"]), "|---|---|---|", *map(_row, rows), ""]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

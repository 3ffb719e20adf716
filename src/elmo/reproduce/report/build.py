"""A report put together: which parts are wanted, what their runs say, and the files that it is written into."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from elmo.disk.writing import write_file
from elmo.reproduce.comparison import Comparison
from elmo.reproduce.report.facts import Facts
from elmo.reproduce.report.findings import PaperFinding, check_findings
from elmo.reproduce.report.layers import table_5, table_6
from elmo.reproduce.report.markdown import PICTURES, markdown
from elmo.reproduce.report.page import report_page
from elmo.reproduce.report.parts import ReportPart
from elmo.reproduce.report.plots import figure_1, figure_2
from elmo.reproduce.report.scores import table_1, table_2, table_3, table_7
from elmo.reproduce.report.search import search_part
from elmo.reproduce.settings import Options, TaskData

TITLE = "The ELMo paper, made again"
MARKDOWN, PAGE = "report.md", "report.html"
Chosen = Mapping[str, tuple[Options, Options] | None]


def comparisons(
    data: Sequence[TaskData], runs: Sequence[Mapping[str, Any]], chosen: Chosen, *, quick: bool = False
) -> list[Comparison]:
    """The runs of each data set whose options are chosen."""
    known = [(one, chosen.get(one.name)) for one in data]
    return [Comparison(one, runs, points, quick=quick) for one, points in known if points is not None]


def report_parts(
    names: Sequence[str],
    sets: Sequence[Comparison],
    runs: Sequence[Mapping[str, Any]],
    titles: Mapping[str, str],
) -> tuple[list[ReportPart], list[PaperFinding]]:
    """The wanted parts, in the paper's order, and the findings that the runs can tell of.

    `titles`: of the data sets that were searched for options, by their names.
    """
    senses = [run for run in runs if run["kind"] == "senses"]
    tags = [run for run in runs if run["kind"] == "probe"]
    made: dict[str, Callable[[], ReportPart]] = {
        "table1": lambda: table_1(sets),
        "table2": lambda: table_2(sets),
        "table3": lambda: table_3(sets),
        "table5": lambda: table_5(senses),
        "table6": lambda: table_6(tags),
        "table7": lambda: table_7(sets),
        "figure1": lambda: figure_1(sets),
        "figure2": lambda: figure_2(sets),
    }
    parts = [make() for name, make in made.items() if name in names]
    if any(run["kind"] == "search" for run in runs):
        parts.append(search_part(runs, titles))
    for part in parts:
        if not part.tables:
            part.texts, part.notes = ["No run of it is finished."], []
    return parts, check_findings(sets, senses, tags)


def write_report(folder: Path, parts: Sequence[ReportPart], findings: Sequence[PaperFinding], facts: Facts) -> None:
    """report.html, report.md and the pictures of that."""
    pictures = folder / PICTURES
    pictures.mkdir(parents=True, exist_ok=True)
    for part in parts:
        for picture in part.pictures:
            write_file(pictures / f"{picture.name}.svg", picture.svg.encode())
    write_file(folder / MARKDOWN, markdown(TITLE, parts, findings, facts, pictures=PICTURES).encode())
    write_file(folder / PAGE, report_page(TITLE, parts, findings, facts).encode())

"""Writes docs/results.md from the raw runs in docs/runs: python docs/make_results.py. A test says when it is stale."""

from pathlib import Path

from elmo.disk.writing import write_file
from elmo.reproduce.catalogue import CATALOGUE
from elmo.reproduce.choosing import chosen_options
from elmo.reproduce.report.build import comparisons, report_parts
from elmo.reproduce.report.facts import Facts
from elmo.reproduce.report.markdown import markdown
from elmo.reproduce.runs import read_runs
from elmo.reproduce.settings import TaskData, read_settings

DOCS = Path(__file__).parent
PAGE, RUNS, PICTURES = DOCS / "results.md", DOCS / "runs", DOCS / "pictures" / "results"
SETTINGS = RUNS / "datasets.toml"
TITLE = "Results on the tasks"
COMMAND = (
    "elmo reproduce table1 table2 table3 table5 table6 figure1 figure2 --data tasks --vectors glove.npz -o report --jobs 14 "
    "--seeds 5 --minutes 11.6 --device cuda"
)
INTRODUCTION = """
Made by `docs/make_results.py` from the raw runs in [runs](runs), a JSON line each, with the packaged model. The
[same command](reproduce.md) makes them on your machine; what there is no run of is not in the tables. The best
epoch on dev counts, and test is scored once. Options were chosen on dev. **ELMo** in Table 1 is ELMo at the input,
which is what `elmo task train` does unless told otherwise.
"""
CHECKS = RUNS / "checks.md"  # what stands behind the tables as it is


def page() -> tuple[str, dict[str, str]]:
    """The text, and the drawings by their names."""
    runs = read_runs([RUNS])
    settings = read_settings(SETTINGS)
    data = [one for one in settings.values() if isinstance(one, TaskData)]
    titles = {name: one.title for name, one in settings.items()}
    chosen = {one.name: chosen_options(one, runs, again=False) for one in data}
    parts, findings = report_parts(list(CATALOGUE), comparisons(data, runs, chosen), runs, titles)
    parts = [part for part in parts if part.tables]
    facts = Facts(date=max(run["date"] for run in runs), command=COMMAND, runs=runs)
    text = markdown(TITLE, parts, findings, facts, pictures=PICTURES.relative_to(DOCS).as_posix())
    head, rest = text.split("\n\n", maxsplit=1)
    drawings = {picture.name: picture.svg for part in parts for picture in part.pictures}
    return f"{head}\n{INTRODUCTION}\n{rest.rstrip()}\n\n{CHECKS.read_text('utf-8')}", drawings


def main() -> None:
    text, drawings = page()
    PICTURES.mkdir(parents=True, exist_ok=True)
    for old in PICTURES.glob("*.svg"):
        if old.stem not in drawings:
            old.unlink()
    for name, svg in drawings.items():
        write_file(PICTURES / f"{name}.svg", f"{svg}\n".encode())
    write_file(PAGE, text.encode())


if __name__ == "__main__":
    main()

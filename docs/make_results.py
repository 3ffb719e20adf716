"""Writes docs/results.md from the raw runs in docs/runs: python docs/make_results.py. A test says when it is stale."""

import json
from pathlib import Path

from elmo.disk.writing import write_file
from elmo.reproduce import paper
from elmo.reproduce.catalogue import CATALOGUE
from elmo.reproduce.choosing import chosen_options
from elmo.reproduce.report.build import comparisons, report_parts
from elmo.reproduce.report.facts import Facts
from elmo.reproduce.report.findings import PaperFinding, Verdict
from elmo.reproduce.report.markdown import markdown
from elmo.reproduce.report.parts import ReportTable
from elmo.reproduce.runs import read_runs
from elmo.reproduce.settings import Row, TaskData, read_settings

DOCS = Path(__file__).parent
PAGE, RUNS, PICTURES = DOCS / "results.md", DOCS / "runs", DOCS / "pictures" / "results"
SETTINGS = RUNS / "datasets.toml"
TITLE = "Results on the tasks"
COMMAND = (
    "elmo reproduce table1 table2 table3 table5 table6 figure1 figure2 --data tasks --vectors glove.npz "
    "--settings docs/runs/datasets.toml -o report --jobs 14 --seeds 5 --minutes 11.6 --device cuda"
)
INTRODUCTION = """
Made by `docs/make_results.py` from the raw runs in [runs](runs), a JSON line each, with the packaged model. The
[same command](reproduce.md) makes them on your machine; what there is no run of is not in the tables. The best
epoch on dev counts, and test is scored once. Options were chosen on dev. **ELMo** in Table 1 is ELMo at the input,
which is what `elmo task train` does unless told otherwise.

The word vectors of all arms are GloVe 6B in 100 dimensions without numbers, without some short words (`a`, `I`, `'s`)
and the names of brackets: 6 to 17 % of the tokens of a set have no vector. With a whole GloVe file a baseline may be
higher.
"""
TUNING = RUNS / "tuning"  # of `python -m benchmarks.tuning`
TUNED_BY = (
    "Made on 2026-11-19 on one NVIDIA H200 by `python -m benchmarks.tuning tasks --model english --vectors glove.npz "
    '-o out --jobs 5 --minutes 4 --runs-share 0.5 --seeds 4 --best 2 --also "adam 3e-4 x1@1"`, whose time was over '
    "before a task model was trained; each text was tuned on once."
)
TUNED_AS = "adam 3e-4 x1"  # what `elmo finetune` and --tune-bilm do: src/elmo/pretrain/recipes/finetune.toml
TEXTS: dict[str, tuple[str, Row | None]] = {
    "conll": ("CoNLL-2003", "ner"), "snli": ("SNLI", "snli"), "sst": ("SST", "sst-5"), "ewt": ("UD English-EWT", None),
}  # fmt: skip
CHECKS = RUNS / "checks.md"  # what stands behind the tables as it is


def page() -> tuple[str, dict[str, str]]:
    """The text, and the drawings by their names."""
    runs = read_runs([RUNS])
    settings = read_settings(SETTINGS)
    data = [one for one in settings.values() if isinstance(one, TaskData)]
    titles = {name: one.title for name, one in settings.items()}
    chosen = {one.name: chosen_options(one, runs, again=False) for one in data}
    parts, findings = report_parts(list(CATALOGUE), comparisons(data, runs, chosen), runs, titles)
    table = perplexities()
    seventh = next(part for part in parts if part.name == "table7")
    seventh.tables, seventh.texts = [table], [TUNED_BY]
    seventh.notes = ["The vocabularies differ from the paper's: compare the change."]
    parts = [part for part in parts if part.tables]
    falls = [f"{row[0]} {row[3]} to {row[4]}" for row in table.rows if float(row[4]) < float(row[3])]
    verdict: Verdict = "held" if len(falls) == len(table.rows) else "held in part" if falls else "not held"
    findings = [PaperFinding(f.claim, verdict, falls) if "(Table 7)" in f.claim else f for f in findings]
    facts = Facts(date=max(run["date"] for run in runs), command=COMMAND, runs=runs)
    text = markdown(TITLE, parts, findings, facts, pictures=PICTURES.relative_to(DOCS).as_posix())
    head, rest = text.split("\n\n", maxsplit=1)
    drawings = {picture.name: picture.svg for part in parts for picture in part.pictures}
    return f"{head}\n{INTRODUCTION}\n{rest.rstrip()}\n\n{CHECKS.read_text('utf-8')}", drawings


def perplexities() -> ReportTable:
    """Table 7 by a measurement of its own, which tuned biLMs without a task model."""
    found: dict[str, dict[str, float]] = {}
    for path in sorted(TUNING.glob("*.jsonl")):
        for line in map(json.loads, path.read_text("utf-8").splitlines()):
            if "1" in line["shares"]:
                found.setdefault(line["text"], {})[line["recipe"]] = line["shares"]["1"]["heldout"]
    rows = []
    for text, (title, row) in TEXTS.items():
        published = [f"{value:g}" for value in paper.TABLE7[row]] if row in paper.TABLE7 else ["", ""]
        rows.append([title, *published, f"{found[text]['untuned']:.1f}", f"{found[text][TUNED_AS]:.1f}"])
    caption = "Perplexity of training sentences that were held out, before and after one pass over the others"
    return ReportTable(caption=caption, columns=["text", "paper: before", "paper: after", "before", "after"], rows=rows)


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

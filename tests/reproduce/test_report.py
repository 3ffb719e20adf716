"""Tables and findings from made-up runs, counted by hand; pages that say the same in either form."""

import dataclasses
import re
import xml.dom.minidom
from pathlib import Path
from typing import Any

import pytest

from elmo.reproduce import paper
from elmo.reproduce.catalogue import data_of
from elmo.reproduce.comparison import Comparison, passed_after, spread
from elmo.reproduce.report.build import report_parts, write_report
from elmo.reproduce.report.drawing import COLOURS, Series, line_plot
from elmo.reproduce.report.facts import Facts
from elmo.reproduce.report.findings import check_findings
from elmo.reproduce.report.parts import ReportPart, ReportTable
from elmo.reproduce.settings import AnyData, TaskData

ALL = ["table1", "table2", "table3", "table5", "table6", "table7", "figure1", "figure2"]
CHOSEN = ((), ("train.learning_rate=0.01",))


def run(arm: str, seed: int, dev: float, test: float, *, fraction: float = 1.0, **more: Any) -> dict[str, Any]:
    where = {"baseline": None, "lambda 1": "input", "top": "input", "tuned": "input"}.get(arm, arm)
    elmo = None if where is None else {
        "where": where, "layers": "top" if arm == "top" else "all", "mix_l2": 1.0 if arm == "lambda 1" else 0.001,
    }  # fmt: skip
    point = [] if arm == "baseline" else list(CHOSEN[1])
    places = {None: (), "both": ("input", "output")}.get(where, (where,))
    return {
        "key": f"{arm}{seed}{fraction}", "kind": "task", "set": "names", "task": "ner", "arm": arm, "seed": seed,
        "fraction": fraction, "point": point, "options": [*SET, *point, f"train.seed={seed}"], "elmo": elmo,
        "metric": "f1", "dev": {"f1": dev, "recall": dev}, "test": {"f1": test, "recall": test + 1, "f1 PER": 9.0},
        "history": [[10, dev - 9], [20, dev]],
        "best_epoch": 2, "epochs": 2, "mixes": {p: {"layers": [0.2, 0.5, 0.3], "gamma": 1.5} for p in places},
        "tuning": None, "seconds": 60.0, "date": "2026-01-02", "device": "cpu", "model": "ab" * 32, "vectors": None,
        "files": {"train": "12ab"}, "versions": {"elmo": "0.1"}, **more,
    }  # fmt: skip


SET = ["train.epochs=1", "task.model.hidden=6", "embedding.words.dim=6", "embedding.characters=none"]
TUNING = {"gained": True, "before": 200.0, "after": 50.0, "outside": 0.08, "sentences": 9, "words": 99}
RUNS = [
    run("baseline", 1, 50.0, 79.0), run("baseline", 2, 52.0, 81.0), run("input", 1, 60.0, 84.0),
    run("input", 2, 62.0, 86.0), run("both", 1, 59.0, 83.0), run("output", 1, 55.0, 80.0), run("top", 1, 61.5, 84.0),
    run("lambda 1", 1, 58.0, 83.5), run("tuned", 1, 63.0, 87.0, tuning=TUNING),
    run("baseline", 1, 30.0, 40.0, fraction=0.5), run("input", 1, 45.0, 60.0, fraction=0.5),
]  # fmt: skip


@pytest.fixture
def names(settings: dict[str, AnyData]) -> Comparison:
    data = settings["names"]
    assert isinstance(data, TaskData)
    return Comparison(data, RUNS, CHOSEN)


def test_means_gains_and_noise_are_counted_over_seeds(names: Comparison) -> None:
    assert names.told("baseline") == "80.00 ± 1.41"
    assert names.told("both") == "83.00"
    assert names.scores == ["f1", "recall"]
    assert names.gain() == 5.0
    assert names.noise() == pytest.approx((2 / 2 + 2 / 2) ** 0.5)
    assert names.noise("both") is None
    assert names.gain(fraction=0.5) == 20.0
    assert names.of("lambda 0.001") == names.of("input")
    assert [r["arm"] for r in names.of("lambda 1")] == ["lambda 1"]
    assert names.updates("input") == [(10, 20), (10, 20)]
    assert passed_after([(10, 50.0), (20, 61.0)], 61.0) is None
    assert names.mixes("both", "output") == (pytest.approx([0.2, 0.5, 0.3]), 1.5)
    assert spread([]) == ""


def test_runs_of_other_options_are_not_counted(names: Comparison) -> None:
    other = dataclasses.replace(names.data, set=("train.epochs=2",))
    assert Comparison(other, RUNS, CHOSEN).runs == []
    assert Comparison(names.data, RUNS, ((), ())).of("input") == []
    assert len(Comparison(names.data, RUNS, ((), ())).of("baseline")) == 2


def test_the_tables_have_our_figures_beside_the_paper_s(names: Comparison) -> None:
    parts, _ = report_parts(ALL, [names], RUNS, {})
    rows = {part.name: part.tables[0].rows if part.tables else [] for part in parts}
    assert rows["table1"] == [
        ["names (f1)", "90.15", "92.22", "21.0 %", "80.00 ± 1.41", "**85.00 ± 1.41**", "+5.00 ± 1.41", "25.0 %", "2, 2"]
    ]
    assert rows["table2"][-1][1:] == [
        "51.00 ± 1.41 (80.00)", "61.50 (84.00)", "58.00 (83.50)", "61.00 ± 1.41 (85.00)",
    ]  # fmt: skip
    assert rows["table3"][-1][1:] == ["61.00 ± 1.41 (85.00)", "59.00 (83.00)", "55.00 (80.00)"]
    assert rows["table7"] == [
        ["names (f1)", "103.2", "46.3", "200.0", "**50.0**", "8.0%", "85.00 ± 1.41", "87.00", "+2.00"]
    ]
    assert [row[1:] for row in rows["figure1"]] == [
        ["40.00", "60.00", "+20.00", "1, 1"], ["80.00 ± 1.41", "85.00 ± 1.41", "+5.00", "2, 2"],
    ]  # fmt: skip
    assert rows["figure2"][0][1:] == ["0.200", "0.500", "0.300", "1.50"]
    assert rows["table5"] == []
    assert paper.error_reduction(90.15, 92.22) == pytest.approx(21.0, abs=0.05)


def test_senses_and_tags_are_told_by_layer() -> None:
    senses = {
        "kind": "senses", "set": "wsd",
        "scores": [{"name": "together", "instances": 10, "first": 65.0, "layers": [50.0, 66.0, 69.0], "mean": 67.0}],
    }  # fmt: skip
    tags = [{"kind": "probe", "set": "tags", "dev": [1.0, 3.0, 2.0], "test": [88.0, 95.0 + n, 94.0]} for n in (0, 2)]
    parts, findings = report_parts(["table5", "table6"], [], [senses, *tags], {})
    assert parts[0].tables[0].rows == [
        ["**together**", "10", "65.0", "50.0", "66.0", "69.0", "67.0"],
        ["*the paper, together*", "", "65.9", "", "67.4", "69", ""],
    ]
    assert parts[1].tables[0].rows[1] == ["test", "88.00 ± 0.00", "96.00 ± 1.41", "94.00 ± 0.00"]
    verdicts = {found.claim: found.verdict for found in findings}
    assert [verdict for claim, verdict in verdicts.items() if "Table 5" in claim or "Table 6" in claim] == ["held"] * 2


def test_a_search_is_told_point_by_point() -> None:
    searches = [
        {**run(arm, 1, dev, 0.0), "kind": "search", "point": [f"a={n}"], "epochs": 5}
        for arm, scores in (("baseline", (50.0, 49.0)), ("input", (60.0, 61.0)))
        for n, dev in enumerate(scores)
    ]
    parts, _ = report_parts([], [], searches, {"names": "names", "other": "other"})
    assert [row for part in parts for row in part.tables[0].rows] == [
        ["names", "a=0", "5", "**50.00**", "60.00"], ["names", "a=1", "5", "49.00", "**61.00**"],
    ]  # fmt: skip


def test_each_finding_is_held_or_not_by_its_figures(names: Comparison) -> None:
    found = {finding.claim.partition(" (")[0]: finding for finding in check_findings([names], [], [])}
    helps = found["ELMo helps on all six tasks"]
    assert (helps.verdict, helps.figures[0]) == ("held so far", "names +5.00 ± 1.41")
    assert helps.figures[1].startswith("not measured: SQuAD, F1, SNLI, accuracy")  # a claim of six is not held by one
    six = [Comparison(dataclasses.replace(names.data, paper=row), RUNS, CHOSEN) for row in paper.TABLE1]
    assert check_findings(six, [], [])[0].verdict == "held"
    assert found["All layers are at least as good as the top one"].verdict == "not held"
    assert found["A small lambda is at least as good as a large one"].verdict == "held"
    assert found["Tuning the biLM on the task's text lowers its perplexity"].figures == ["names 200.0 to 50.0"]
    assert found["The gain grows as the training data shrink"].figures == [
        "names +20.00 (one seed) with 50 %, +5.00 ± 1.41 with all"
    ]
    assert found["ELMo passes the baseline's best score in fewer updates"].figures == ["names 10 against 20"]
    assert found["At the input the first LSTM layer has most weight"].verdict == "held"
    assert found["Senses are told better by the second layer than by the first"].verdict == "not measured"


def test_a_gain_within_its_noise_holds_nothing(names: Comparison) -> None:
    near = [r for r in RUNS if r["arm"] == "baseline"]
    near += [run("input", 1, 51.0, 79.5), run("input", 2, 51.0, 81.5), run("input", 1, 30.0, 41.0, fraction=0.5)]
    found = {f.claim.partition(" (")[0]: f for f in check_findings([Comparison(names.data, near, CHOSEN)], [], [])}
    helps = found["ELMo helps on all six tasks"]
    assert (helps.verdict, helps.figures) == ("not held", ["names +0.50 ± 1.41, which is noise"])
    more = [*near, run("baseline", 2, 30.0, 44.0, fraction=0.5), run("input", 2, 30.0, 46.0, fraction=0.5)]
    found = {f.claim.partition(" (")[0]: f for f in check_findings([Comparison(names.data, more, CHOSEN)], [], [])}
    grows = found["The gain grows as the training data shrink"]
    assert (grows.verdict, grows.figures[0].endswith("with all, which is noise")) == ("not held", True)


def test_both_places_are_best_when_they_beat_either(names: Comparison) -> None:
    claim = "Input and output together are best for SQuAD and SNLI"
    for output, verdict in ((55.0, "held"), (70.0, "not held")):
        runs = [run("input", 1, 60.0, 84.0), run("both", 1, 61.0, 83.0), run("output", 1, output, 80.0)]
        data = dataclasses.replace(names.data, paper="snli")
        found = check_findings([Comparison(data, runs, CHOSEN)], [], [])
        assert [f.verdict for f in found if f.claim.startswith(claim)] == [verdict]


def test_a_set_that_stands_for_none_of_the_papers_has_the_tables_of_forms(names: Comparison) -> None:
    own = Comparison(dataclasses.replace(names.data, paper=None), RUNS, CHOSEN)
    parts, _ = report_parts(["table2", "table3"], [own], [], {})
    assert [len(part.tables[0].rows) for part in parts] == [1, 1]
    assert data_of("table3", {"names": own.data}) == [own.data]


def test_a_model_of_one_lstm_layer_has_its_tables() -> None:
    score = {"name": "together", "instances": 10, "first": 65.0, "layers": [50.0, 66.0], "mean": 67.0}
    tags = {"kind": "probe", "set": "tags", "dev": [1.0, 3.0], "test": [88.0, 95.0]}
    parts, findings = report_parts(
        ["table5", "table6"], [], [{"kind": "senses", "set": "wsd", "scores": [score]}, tags], {}
    )
    assert all(len(row) == len(part.tables[0].columns) for part in parts for row in part.tables[0].rows)
    assert [f.verdict for f in findings if "Table 5" in f.claim] == ["not measured"]


def test_a_finding_of_several_data_sets_may_be_held_in_part(names: Comparison) -> None:
    worse = [{**r, "set": "other", "test": {"f1": 50.0}} for r in RUNS if r["arm"] != "baseline"]
    other = Comparison(
        dataclasses.replace(names.data, name="other"),
        [*worse, *({**r, "set": "other"} for r in RUNS if r["arm"] == "baseline")], CHOSEN,
    )  # fmt: skip
    finding = check_findings([names, other], [], [])[0]
    assert (finding.verdict, len(finding.figures)) == ("held in part", 2)


def test_both_pages_hold_every_cell_and_picture(names: Comparison, tmp_path: Path) -> None:
    parts, findings = report_parts(ALL, [names], RUNS, {})
    parts.append(
        ReportPart(name="odd", title="<odd> & *so*", tables=[ReportTable(caption="c", columns=["a|b"], rows=[["<i>"]])])
    )
    facts = Facts(date="2026-01-02", command="elmo reproduce all", runs=RUNS, missing=["squad: not there"])
    write_report(tmp_path, parts, findings, facts)
    page, text = ((tmp_path / name).read_text("utf-8") for name in ("report.html", "report.md"))
    for part in parts:
        for table in part.tables:
            for cell in (cell for row in table.rows for cell in row if cell.strip("*") and "<" not in cell):
                assert cell in text
                assert re.sub(r"\*+", "", cell).replace("'", "&#x27;") in re.sub("<[^>]*>", "", page).replace(
                    "\u00a0", " "
                )
        for picture in part.pictures:
            xml.dom.minidom.parseString(picture.svg)
            assert f"pictures/{picture.name}.svg" in text
            assert (tmp_path / "pictures" / f"{picture.name}.svg").is_file()
    assert page.count("<img ") == page.count(" alt='") == sum(len(part.pictures) for part in parts)
    assert "&lt;odd&gt; &amp;" in page
    assert "a\\|b" in text
    for told in ("abab" * 16, "squad: not there", "elmo reproduce all", "11 runs, 0.2 hours"):
        assert told in page
        assert told in text
    assert not re.search(r"(?:src|href)=['\"](?:https?:)?//", page)


def test_lines_differ_by_shape_and_dash_too() -> None:
    svg = line_plot(
        "t", ["1 %", "100 %"], [Series("a", [1.0, 2.0], [0.1, 0.0]), Series("b", [2.0, 2.0], [0.0, 0.0])], y_title="f1"
    )
    assert svg.count("<circle") == 3
    assert svg.count("stroke-dasharray") == 1
    assert all(colour in svg for colour in COLOURS[:2])

"""Tables 1, 2, 3 and 7: what ELMo adds to task models, in which form, and with a tuned biLM."""

import statistics
from collections.abc import Sequence

from elmo.reproduce import paper
from elmo.reproduce.arms import ARMS, BASELINE, INPUT, TUNED
from elmo.reproduce.comparison import Comparison, spread
from elmo.reproduce.report.drawing import pairs_plot
from elmo.reproduce.report.parts import Picture, ReportPart, ReportTable

Sets = Sequence[Comparison]


def table_1(sets: Sets) -> ReportPart:
    """The six tasks: baseline and ELMo at the input, on test."""
    part = ReportPart(name="table1", title="Table 1: what ELMo adds to six tasks")
    columns = [
        "task", "paper: baseline", "paper: ELMo", "paper: fewer errors", "baseline", "ELMo", "gain", "fewer errors",
        "seeds",
    ]  # fmt: skip
    rows = []
    bars = []
    for one in _having(sets, BASELINE, INPUT):
        before, after = one.mean(BASELINE), one.mean(INPUT)
        assert before is not None
        assert after is not None
        reduction = paper.error_reduction(before, after)
        published = ["", "", ""]
        if one.data.paper is not None:
            theirs = paper.TABLE1[one.data.paper]
            published = [f"{theirs[0]:g}", f"{theirs[1]:g}", f"{paper.error_reduction(*theirs):.1f} %"]
            bars.append((one.data.name, paper.error_reduction(*theirs), reduction))
        seeds = f"{len(one.of(BASELINE))}, {len(one.of(INPUT))}"
        rows.append(
            [
                _titled(one),
                *published,
                one.told(BASELINE),
                f"**{one.told(INPUT)}**",
                _gain(one),
                f"{reduction:.1f} %",
                seeds,
            ]
        )
    if rows:
        part.tables.append(
            ReportTable(caption="Test scores, mean and deviation over seeds", columns=columns, rows=rows)
        )
    if bars:
        told = "; ".join(f"{name}: paper {theirs:.1f}, here {ours:.1f}" for name, theirs, ours in bars)
        svg = pairs_plot("Errors taken away by ELMo (%)", bars, ("the paper", "here"))
        part.pictures.append(Picture(name="table1", svg=svg, alt=f"Relative error reduction in per cent. {told}."))
    part.tables += _all_scores(sets) + _updates(sets)
    part.notes += caveats(sets)
    return part


def table_2(sets: Sets) -> ReportPart:
    """The top layer alone, and all layers with a strong and a weak lambda, on dev."""
    part = ReportPart(name="table2", title="Table 2: all layers, or the top one; the penalty of the mix")
    arms = (BASELINE, "top", "lambda 1", "lambda 0.001")
    return _by_arm(part, sets, arms, {row: list(values) for row, values in paper.TABLE2.items()})


def table_3(sets: Sets) -> ReportPart:
    """Where ELMo stands, on dev."""
    part = ReportPart(name="table3", title="Table 3: ELMo at the input, at the output, at both")
    return _by_arm(part, sets, (INPUT, "both", "output"), {row: list(values) for row, values in paper.TABLE3.items()})


def table_7(sets: Sets) -> ReportPart:
    """The perplexity of the biLM on a task's text before and after tuning, and what that does to the score."""
    part = ReportPart(name="table7", title="Table 7: the biLM tuned on the task's own text")
    rows = []
    for one in sets:
        tuning = one.tuning()
        if tuning is None:
            continue
        theirs = None if one.data.paper is None else paper.TABLE7.get(one.data.paper)
        published = ["", ""] if theirs is None else [f"{value:g}" for value in theirs]
        kept = "" if tuning["gained"] else " (left as it was)"
        rows.append(
            [
                _titled(one),
                *published,
                f"{tuning['before']:.1f}",
                f"**{tuning['after']:.1f}**{kept}",
                f"{tuning['outside']:.1%}",
                one.told(INPUT),
                one.told(TUNED),
                _gain(one, TUNED, INPUT),
            ]
        )
    if rows:
        columns = [
            "text", "paper: before", "paper: after", "before", "after", "unknown words", "score, not tuned",
            "score, tuned", "gain",
        ]  # fmt: skip
        caption = "Perplexity of held-out training sentences, and test scores with either biLM"
        part.tables.append(ReportTable(caption=caption, columns=columns, rows=rows))
    part.notes.append("The paper has perplexities of the whole text, by another vocabulary: compare the change.")
    part.notes += caveats([one for one in sets if one.tuning()])
    return part


def _by_arm(part: ReportPart, sets: Sets, arms: Sequence[str], theirs: dict[str, list[float]]) -> ReportPart:
    rows = []
    for one in sets:
        own = [run for arm in arms for run in one.of(arm) if run["arm"] not in (BASELINE, INPUT)]
        if not own:  # else the row would only repeat Table 1
            continue
        if one.data.paper is not None and one.data.paper in theirs:
            rows.append([f"*the paper: {paper.NAMES[one.data.paper]}*", *(f"{v:g}" for v in theirs[one.data.paper])])
        rows.append([_titled(one), *(_dev_and_test(one, arm) for arm in arms)])
    if rows:
        caption = "Dev scores, as in the paper; in brackets those on test. Mean and deviation over seeds"
        titles = [ARMS[arm].title for arm in arms]
        part.tables.append(ReportTable(caption=caption, columns=["task", *titles], rows=rows))
    part.notes += caveats(sets)
    return part


def _dev_and_test(one: Comparison, arm: str) -> str:
    test = one.mean(arm)
    return "" if test is None else f"{one.told(arm, 'dev')} ({test:.2f})"


def _gain(one: Comparison, arm: str = INPUT, other: str = BASELINE) -> str:
    gain, noise = one.gain(arm, other), one.noise(arm, other)
    if gain is None:
        return ""
    return f"{gain:+.2f}" + ("" if noise is None else f" ± {noise:.2f}")


def _all_scores(sets: Sets) -> list[ReportTable]:
    """Every score of every task, on dev and test."""
    rows = [
        [
            f"{_titled(one)}: {score}",
            *(one.told(arm, p, score=score) for arm in (BASELINE, INPUT) for p in ("dev", "test")),
        ]
        for one in _having(sets, BASELINE, INPUT)
        for score in one.scores
    ]
    columns = ["score", "baseline, dev", "baseline, test", "ELMo, dev", "ELMo, test"]
    return [ReportTable(caption="All scores of the same runs", columns=columns, rows=rows)] if rows else []


def _updates(sets: Sets) -> list[ReportTable]:
    """How soon ELMo passes the baseline; the paper: SRL needs 486 epochs without ELMo, 10 with it."""
    rows = []
    for one in _having(sets, BASELINE, INPUT):
        needed = one.updates(INPUT)
        passed = [updates for updates, _ in needed if updates is not None]
        best = [run["history"][run["best_epoch"] - 1][0] for run in one.of(BASELINE) if run["history"]]
        if needed and best:
            rows.append(
                [
                    _titled(one),
                    f"{statistics.mean(best):,.0f}",
                    f"{statistics.mean(passed):,.0f}" if passed else "",
                    f"{len(passed)} of {len(needed)}",
                ]
            )
    columns = ["task", "baseline: updates to its best", "ELMo: updates to pass that", "seeds that pass it"]
    caption = "Updates until the baseline's best score on dev is passed (within one schedule of the learning rate)"
    return [ReportTable(caption=caption, columns=columns, rows=rows)] if rows else []


def _having(sets: Sets, *arms: str) -> list[Comparison]:
    return [one for one in sets if all(one.of(arm) for arm in arms)]


def _titled(one: Comparison) -> str:
    return f"{one.data.title} ({one.data.metric})"


def caveats(sets: Sets) -> list[str]:
    """What differs from the paper, a line each data set; said beside every table and figure."""
    return [f"{one.data.title}: {one.data.caveat}." for one in sets if one.data.caveat and one.runs]


def curve_cells(one: Comparison, fractions: Sequence[float]) -> list[list[str]]:
    """A row for each share of the training data."""
    rows = []
    for fraction in fractions:
        gain = one.gain(fraction=fraction)
        rows.append(
            [
                f"{one.data.title}, {100 * fraction:g} %",
                spread(one.values(BASELINE, fraction=fraction)),
                spread(one.values(INPUT, fraction=fraction)),
                "" if gain is None else f"{gain:+.2f}",
                f"{len(one.of(BASELINE, fraction))}, {len(one.of(INPUT, fraction))}",
            ]
        )
    return rows

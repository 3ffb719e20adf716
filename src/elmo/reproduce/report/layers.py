"""Tables 5 and 6: what each layer knows of senses and of parts of speech."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from elmo.reproduce import paper
from elmo.reproduce.comparison import spread
from elmo.reproduce.report.parts import ReportPart, ReportTable

Run = Mapping[str, Any]
TOGETHER = "together"


def table_5(runs: Sequence[Run]) -> ReportPart:
    """F1 of word senses by layer."""
    part = ReportPart(name="table5", title="Table 5: word senses by layer")
    for run in runs:
        count = len(run["scores"][0]["layers"])
        columns = ["test set", "words", "first sense", "tokens", *_lstms(count), "mean of the layers"]
        rows = [
            [_bold(score["name"]), f"{score['instances']:,}", *_told(score["first"], *score["layers"], score["mean"])]
            for score in run["scores"]
        ]
        first, *theirs = paper.TABLE5
        told = [f"{value:g}" for value in theirs[: count - 1]]
        rows.append(["*the paper, together*", "", f"{first:g}", "", *told, *[""] * (count - len(told))])
        caption = "F1: the nearest average of SemCor's uses, the first sense where SemCor lacks the word"
        part.tables.append(ReportTable(caption=caption, columns=columns, rows=rows))
    return part


def table_6(runs: Sequence[Run]) -> ReportPart:
    """Accuracy of tags by layer."""
    part = ReportPart(name="table6", title="Table 6: parts of speech by layer")
    if runs:
        count = len(runs[0]["dev"])
        rows = [[split, *(spread([run[split][n] for run in runs]) for n in range(count))] for split in ("dev", "test")]
        theirs = [f"{value:g}" for value in paper.TABLE6[: count - 1]]
        rows.append(["*the paper (Penn Treebank)*", "", *theirs, *[""] * (count - 1 - len(theirs))])
        caption = f"Accuracy of a linear classifier on each layer alone, {len(runs)} seeds"
        part.tables.append(ReportTable(caption=caption, columns=["split", "tokens", *_lstms(count)], rows=rows))
        part.notes.append("The Penn Treebank is not free: these are the same tags on UD English-EWT.")
    return part


def small_table_5(shares: Sequence[Sequence[float]]) -> ReportPart:
    """Senses of the packaged sentences, without a corpus that is annotated."""
    part = ReportPart(name="table5", title="Table 5 in small: senses of the packaged words by layer")
    names = ("24 words, 240 sentences", "25 other words, 500 sentences")
    rows = [[name, *_told(*layers)] for name, layers in zip(names, shares, strict=True)]
    caption = "Share of the uses whose nearest other use of the word has the same sense (%)"
    columns = ["sentences", "tokens", *_lstms(len(shares[0]))]
    part.tables.append(ReportTable(caption=caption, columns=columns, rows=rows))
    return part


def small_table_6(shares: Sequence[float]) -> ReportPart:
    """Nouns and verbs of the packaged sentences."""
    part = ReportPart(name="table6", title="Table 6 in small: nouns and verbs by layer")
    rows = [["20 words, 160 sentences", *_told(*shares)]]
    caption = "Share of the uses told to be noun or verb by the uses of other words (%); a guess has 50"
    columns = ["sentences", "tokens", *_lstms(len(shares))]
    part.tables.append(ReportTable(caption=caption, columns=columns, rows=rows))
    return part


def together(run: Run) -> Mapping[str, Any]:
    """The scores of all test sets together."""
    found: Mapping[str, Any] = run["scores"][-1]
    return found


def mean_by_layer(runs: Sequence[Run], split: str) -> list[float]:
    """Of a probe, over its seeds."""
    return [statistics.mean(column) for column in zip(*(run[split] for run in runs), strict=True)]


def _lstms(count: int) -> list[str]:
    return [f"LSTM {n}" for n in range(1, count)]


def _told(*values: float) -> list[str]:
    return [f"{value:.1f}" for value in values]


def _bold(name: str) -> str:
    return f"**{name}**" if name == TOGETHER else name

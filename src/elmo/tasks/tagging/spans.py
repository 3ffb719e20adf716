"""Chunks in tags: IOB1, IOB2, IOBES and BILOU read by conlleval's rules, written as IOB2 or IOBES."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from elmo.tasks.details import rates

OUTSIDE = "O"
_SAME = {"L": "E", "U": "S"}  # BILOU's names


class Span(NamedTuple):
    """Tokens start .. end - 1 and what they are."""

    start: int
    end: int
    label: str


def is_tag(tag: str) -> bool:
    """Whether a tag is `O`, or a letter of a scheme, a hyphen and a label."""
    return tag == OUTSIDE or (len(tag) > 2 and tag[0] in "BIESLU" and tag[1] == "-")


def find_spans(tags: Iterable[str]) -> list[Span]:
    """The chunks of a sentence. Broken sequences are read as conlleval reads them: an I opens where none is open.

    For B, I and O this is conlleval's startOfChunk and endOfChunk; S opens and closes, E closes.
    """
    spans: list[Span] = []
    opened: int | None = None
    before, label_before = OUTSIDE, ""
    n = -1
    for n, tag in enumerate(tags):
        letter, _, label = tag.partition("-")
        letter = _SAME.get(letter, letter)
        starts = letter in ("B", "S") or (letter in ("I", "E") and (before in "OES" or label != label_before))
        if opened is not None and (starts or letter == OUTSIDE):
            spans.append(Span(opened, n, label_before))
            opened = None
        if starts:
            opened = n
        before, label_before = letter, label
    if opened is not None:
        spans.append(Span(opened, n + 1, label_before))
    return spans


def write_iob2(spans: Iterable[Span], length: int) -> tuple[str, ...]:
    """Spans as tags: B begins every one."""
    tags = [OUTSIDE] * length
    for start, end, label in spans:
        tags[start:end] = [f"I-{label}"] * (end - start)
        tags[start] = f"B-{label}"
    return tuple(tags)


def write_iobes(spans: Iterable[Span], length: int) -> tuple[str, ...]:
    """Spans as tags: S for a single token, else B, I, E."""
    tags = [OUTSIDE] * length
    for start, end, label in spans:
        tags[start:end] = [f"I-{label}"] * (end - start)
        tags[start] = f"B-{label}"
        tags[end - 1] = f"E-{label}" if end - start > 1 else f"S-{label}"
    return tuple(tags)


def may_follow(before: str | None, after: str | None) -> bool:
    """Whether an IOBES tag may stand after another; None is the edge of the sentence."""
    inside = before is not None and before[0] in "BI"
    continues = after is not None and after[0] in "IE"
    if not (inside or continues):
        return True
    return inside and continues and before is not None and after is not None and before[2:] == after[2:]


def chunk_counts(gold: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> dict[str, tuple[int, int, int]]:
    """How many chunks of each label are right, given and wanted."""
    right: Counter[str] = Counter()
    given: Counter[str] = Counter()
    wanted: Counter[str] = Counter()
    for wanted_tags, given_tags in zip(gold, found, strict=True):
        wanted_spans, given_spans = set(find_spans(wanted_tags)), set(find_spans(given_tags))
        for counter, spans in ((right, wanted_spans & given_spans), (given, given_spans), (wanted, wanted_spans)):
            counter.update(span.label for span in spans)
    return {label: (right[label], given[label], wanted[label]) for label in sorted(given | wanted)}


def chunk_scores(gold: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> dict[str, float]:
    """Precision, recall and F1 of chunks in per cent as conlleval prints them, and the F1 of each label."""
    counts = chunk_counts(gold, found)
    precision, recall, f1 = rates(*(sum(count[n] for count in counts.values()) for n in range(3)))
    scores = {"f1": f1, "precision": precision, "recall": recall}
    return scores | {f"f1 {label}": rates(*count)[2] for label, count in counts.items()}

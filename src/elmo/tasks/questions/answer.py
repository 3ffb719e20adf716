"""`AnswerPiece`: a piece of a text with its place; and the official scores of SQuAD v1.1, exact match and F1.

The rules are those of the official script: answers are compared as small letters without punctuation and articles.
"""

import re
import string
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

_ARTICLE = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)  # of ASCII alone: dashes and curly quotes stay


@dataclass(frozen=True)
class AnswerPiece:
    """What stands at `start` .. `end`, counted in characters of the text."""

    text: str
    start: int
    end: int


def normalize(text: str) -> str:
    """An answer as it is compared. Punctuation is deleted, not replaced: `well-known` becomes `wellknown`."""
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def exact_match(given: str, wanted: str) -> float:
    """1 if both are the same, else 0."""
    return float(normalize(given) == normalize(wanted))


def overlap_f1(given: str, wanted: str) -> float:
    """F1 of the words that both have, each as often as it stands there; 0 without one, even where both are empty."""
    ours, theirs = normalize(given).split(), normalize(wanted).split()
    common = (Counter(ours) & Counter(theirs)).total()
    if not common:
        return 0.0
    precision, recall = common / len(ours), common / len(theirs)
    return 2 * precision * recall / (precision + recall)


def best_scores(given: str, wanted: Iterable[str]) -> tuple[float, float]:
    """Exact match and F1 with several answers that are right: the best of each, by itself."""
    answers = list(wanted)
    return max(exact_match(given, one) for one in answers), max(overlap_f1(given, one) for one in answers)

"""The roles of one predicate, and how good they are by the rules of srl-eval.pl, the scorer of CoNLL-2005.

- An argument is a label and exactly its tokens. `X` with a later `C-X` is one argument of several pieces, right only if
  all of them are. `C-X` joins the last `X` before it, whatever stands between; without one it is an `X` itself.
- V, the predicate's own place, is not scored.
- Predicates are those of the gold standard; roles of others are skipped.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from elmo.tasks.tagging.spans import Span

PREDICATE = "V"
CONTINUED = "C-"


class Proposition(NamedTuple):
    """A predicate by the place of its token, and its roles from left to right, V among them."""

    place: int
    roles: tuple[Span, ...]


@dataclass(frozen=True)
class Roles:
    """The propositions of a sentence. `predicates`: where the file has some, or where the model by itself finds some.

    The latter do not tell two answers from each other: where the predicates are given, they are beside the question.
    """

    propositions: tuple[Proposition, ...]
    predicates: tuple[int, ...] = field(compare=False)


class Argument(NamedTuple):
    """A label and the pieces it covers."""

    label: str
    pieces: tuple[tuple[int, int], ...]


def find_arguments(roles: Iterable[Span]) -> list[Argument]:
    """Roles as the scorer counts them: pieces put together, without V."""
    found: list[Argument] = []
    last: dict[str, int] = {}  # by its label, the number of the argument that a continuation joins
    for start, end, label in roles:
        whole = label.removeprefix(CONTINUED)
        if whole != label and whole in last:
            argument = found[last[whole]]
            found[last[whole]] = argument._replace(pieces=(*argument.pieces, (start, end)))
        else:
            last[whole] = len(found)
            found.append(Argument(whole, ((start, end),)))
    return [argument for argument in found if argument.label != PREDICATE]


Counts = dict[str, tuple[int, int, int]]


def argument_counts(pairs: Iterable[tuple[Sequence[Span], Sequence[Span]]]) -> Counts:
    """How many arguments of each label are right, given and wanted, from (wanted, given) roles of predicates."""
    right: Counter[str] = Counter()
    given: Counter[str] = Counter()
    wanted: Counter[str] = Counter()
    for wanted_roles, given_roles in pairs:
        wanted_ones, given_ones = Counter(find_arguments(wanted_roles)), Counter(find_arguments(given_roles))
        for counter, arguments in ((right, wanted_ones & given_ones), (given, given_ones), (wanted, wanted_ones)):
            counter.update(argument.label for argument in arguments.elements())
    return {label: (right[label], given[label], wanted[label]) for label in sorted(given | wanted)}


def paired_roles(wanted: Roles, given: Roles) -> list[tuple[Proposition, tuple[Span, ...]]]:
    """Each wanted proposition with the roles given to its predicate; none where it has been given none."""
    found = {proposition.place: proposition.roles for proposition in given.propositions}
    return [(proposition, found.get(proposition.place, ())) for proposition in wanted.propositions]

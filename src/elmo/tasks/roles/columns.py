"""Column files of semantic roles, as CoNLL-2005 has them: words, predicates, and a column of roles for each predicate.

    From   IN   -         (ARG2*
    there  RB   -         *)
    it     PRP  -         (ARG1*)
    came   VBD  come.03   (V*)

A column of roles has `(ROLE*` where one begins, `*)` where it ends and `*` everywhere else. Roles of one predicate
never overlap.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from elmo.disk.guarded.plainfiles import shortened
from elmo.errors import ConfigError, InputError
from elmo.tasks.examples import Example, Raw, Text
from elmo.tasks.roles.propositions import Proposition, Roles
from elmo.tasks.tagging.columns import ColumnRow, column, read_column_sentences
from elmo.tasks.tagging.spans import Span
from elmo.text.apostrophes import straighten_english

NONE = "-"  # in a column that says nothing
PREDICATES_KNOWN = 1  # the first of the integers given with an example; the predicates' places, from 1, follow it
_CELL = re.compile(r"(?:\(([^\s()*]+))?\*(\))?")


@dataclass(frozen=True, kw_only=True)
class RoleColumns:
    """Which columns of a file are what, from 1. The columns of roles are all behind that of the predicates."""

    token: int = 1
    tag: int | None = 2
    predicate: int = 3

    def __post_init__(self) -> None:
        if min(self.token, self.predicate, self.tag or 1) < 1 or self.predicate < max(self.token, self.tag or 1):
            raise ConfigError(
                f"columns are token {self.token}, tag {self.tag}, predicate {self.predicate}; they count from 1, and "
                "the predicate's stands behind the others"
            )


@dataclass(frozen=True)
class RolesExample(Example):
    """A sentence with its predicates as the file names them, and its parts of speech; `answer` is a `Roles`.

    `repeated`: one more of a sentence's predicates to learn from; the others are in examples of their own.
    """

    senses: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    repeated: bool = False


def read_role_sentences(path: str, columns: RoleColumns) -> Iterator[RolesExample]:
    """All sentences with the roles of their predicates."""
    for rows in read_column_sentences(path):
        senses = tuple(column(row, columns.predicate, path=path, what="predicate") for row in rows)
        places = _places(senses)
        found = len(rows[0].columns) - columns.predicate
        if found != len(places):
            raise InputError(
                f"{path}: line {rows[0].line} begins a sentence of {len(places)} predicate(s) in column "
                f"{columns.predicate} with {found} column(s) of roles behind it; each predicate wants one"
            )
        propositions = tuple(
            Proposition(place, _read_roles(rows, columns.predicate + n, path=path)) for n, place in enumerate(places)
        )
        yield _example(rows, columns, path=path, senses=senses, answer=Roles(propositions, places))


def read_role_questions(path: str, columns: RoleColumns) -> Iterator[RolesExample]:
    """Sentences without their roles; the predicates are those of the file, if it has a column for them."""
    for rows in read_column_sentences(path):
        senses: tuple[str, ...] = ()
        if len(rows[0].columns) >= columns.predicate:
            senses = tuple(column(row, columns.predicate, path=path, what="predicate") for row in rows)
        yield _example(rows, columns, path=path, senses=senses, answer=None)


def write_role_sentence(
    words: Sequence[str], tags: Sequence[str], senses: Sequence[str], propositions: Sequence[Proposition]
) -> Iterator[str]:
    """A sentence as lines that `read_role_sentences` reads with its usual columns, a blank line at the end."""
    props = [_write_roles(proposition.roles, len(words)) for proposition in propositions]
    for row in zip(words, tags, senses, *props, strict=True):
        yield "\t".join(row)
    yield ""


def given_predicates(places: Sequence[int]) -> tuple[int, ...]:
    """The integers given with an example whose predicates are known."""
    return PREDICATES_KNOWN, *(place + 1 for place in places)


def _example(
    rows: list[ColumnRow], columns: RoleColumns, *, path: str, senses: tuple[str, ...], answer: Roles | None
) -> RolesExample:
    written = [column(row, columns.token, path=path, what="token") for row in rows]
    tags: tuple[str, ...] = ()
    if columns.tag is not None and len(rows[0].columns) >= columns.tag:
        tags = tuple(column(row, columns.tag, path=path, what="part of speech") for row in rows)
    line = rows[0].line
    return RolesExample(
        (Text(tuple(map(straighten_english, written))),),
        answer,
        f"{path}: line {line}",
        Raw.joined(line, written),
        given_predicates(_places(senses)) if senses else (),
        senses=senses,
        tags=tags,
    )


def _places(senses: Sequence[str]) -> tuple[int, ...]:
    return tuple(n for n, sense in enumerate(senses) if sense != NONE)


def _read_roles(rows: list[ColumnRow], place: int, *, path: str) -> tuple[Span, ...]:
    """The roles of one column, counted from 0."""
    roles: list[Span] = []
    opened: tuple[int, str, int] | None = None  # the token where a role begins, its label, the line
    for n, (line, cells) in enumerate(rows):
        cell = _CELL.fullmatch(cells[place])
        where = f"{path}: line {line} has {shortened(cells[place])} in column {place + 1}"
        if cell is None:
            raise InputError(f"{where}; `(ROLE*`, `*`, `*)` or `(ROLE*)` is wanted, and roles do not nest")
        if cell[1]:
            if opened is not None:
                raise InputError(f"{where}, inside of {opened[1]} from line {opened[2]}; roles do not overlap")
            opened = n, cell[1], line
        if cell[2]:
            if opened is None:
                raise InputError(f"{where}, but no role is open there; remove the bracket, or open it before")
            roles.append(Span(opened[0], n + 1, opened[1]))
            opened = None
    if opened is not None:
        raise InputError(
            f"{path}: line {opened[2]} opens {opened[1]} in column {place + 1}, which the sentence does not close; "
            "`*)` is wanted on its last token"
        )
    return tuple(roles)


def _write_roles(roles: Sequence[Span], length: int) -> list[str]:
    cells = ["*"] * length
    for start, end, label in roles:
        cells[start] = f"({label}{cells[start]}"
        cells[end - 1] += ")"
    return cells

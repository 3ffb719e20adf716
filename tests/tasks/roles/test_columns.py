"""Column files of roles: what is read, what is written again, what is refused with its line."""

from pathlib import Path

import pytest
from tests.tasks.conftest import SAMPLES, SAMPLES_OF_TASKS, small_recipe

from elmo.errors import ConfigError, InputError
from elmo.tasks.roles.propositions import Proposition, Roles
from elmo.tasks.tagging.spans import Span

TASK = small_recipe(SAMPLES_OF_TASKS["roles"]).make_task()


def test_a_sentence_has_its_predicates_and_their_roles() -> None:
    example = TASK.read(str(SAMPLES / "roles-train.txt"))[3]
    assert example.tokens == ("The", "bank", "which", "lent", "him", "money", "closed", ".")
    assert example.answer.predicates == (3, 6)
    assert example.answer.propositions[0] == Proposition(
        3, (Span(0, 2, "ARG0"), Span(2, 3, "R-ARG0"), Span(3, 4, "V"), Span(4, 5, "ARG2"), Span(5, 6, "ARG1"))
    )
    assert example.answer.propositions[1] == Proposition(6, (Span(0, 6, "ARG1"), Span(6, 7, "V")))


@pytest.mark.parametrize("name", ["roles-train.txt", "roles-dev.txt"])
def test_what_is_read_is_written_alike(name: str) -> None:
    examples = TASK.read(str(SAMPLES / name))
    lines = TASK.write(examples, [example.answer for example in examples])
    assert "".join(f"{line}\n" for line in lines) == (SAMPLES / name).read_text("utf-8")


def test_an_example_is_learned_for_each_predicate_and_predicates_once_a_sentence() -> None:
    examples = TASK.read(str(SAMPLES / "roles-train.txt"))
    learned = TASK.training_examples(examples)
    assert len(learned) == sum(max(1, len(e.answer.propositions)) for e in examples)
    ids = {label: n for n, label in enumerate(TASK.find_labels(learned))}
    finder = [tuple(TASK.encode(example, ids)[::2]) for example in learned[4:8]]
    assert finder == [(0, 0, 0, 1, 0, 0, 1, 0), (2,) * 8, (0,) * 4, (0, 1, 0, 0, 0, 0)]  # 2: not counted again


def read(tmp_path: Path, text: str, **columns: object) -> list:
    (tmp_path / "roles.txt").write_text(text, encoding="utf-8")
    sample = SAMPLES_OF_TASKS["roles"]
    changes = {f"task__columns__{name}": value for name, value in columns.items()}
    return small_recipe(sample, **changes).make_task().read(str(tmp_path / "roles.txt"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a X -\n", "has no predicates"),
        ("a X - (A0*)\nb X b.01 (V*\n", r"line 2 opens V in column 4, which the sentence does not close"),
        ("a X - *)\nb X b.01 (V*)\n", r"line 1 has '\*\)' in column 4, but no role is open there"),
        ("a X - (A0*\nb X b.01 (V*)\n", r"line 2 has '\(V\*\)' in column 4, inside of A0 from line 1"),
        ("a X - (A0(A1*))\nb X b.01 (V*)\n", r"line 1 has '\(A0\(A1\*\)\)' in column 4; .* roles do not nest"),
        ("a X - B-A0\nb X b.01 (V*)\n", r"line 1 has 'B-A0' in column 4; `\(ROLE\*`"),
        ("a X -\nb X b.01\n", r"line 1 begins a sentence of 1 predicate\(s\) in column 3 with 0 column\(s\)"),
        ("a X - * *\nb X b.01 (V*) *\n", r"line 1 begins .* 1 predicate\(s\) in column 3 with 2 column\(s\)"),
        ("a X - *\nb X b.01\n", "line 2 has 3 columns, but the sentence began with 4 in line 1"),
        ("a\nb\n", "line 1 has 1 columns, so there is no column 3 for the predicate"),
        ("a X - " + "(" * 9999 + "\nb X b.01 *\n", "line 1 has"),
    ],
)  # fmt: skip
def test_what_is_malformed_is_named_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message) as refused:
        read(tmp_path, text)
    assert str(refused.value).startswith(str(tmp_path / "roles.txt"))
    assert len(str(refused.value)) < 500


def test_columns_may_be_others(tmp_path: Path) -> None:
    (example,) = read(tmp_path, "1 a - (A0*)\n2 fell fall (V*)\n", token=2, tag=None)
    assert example.tokens == ("a", "fell")
    assert example.answer == Roles((Proposition(1, (Span(0, 1, "A0"), Span(1, 2, "V"))),), (1,))
    for wrong in ({"token": 0}, {"predicate": 1}):
        with pytest.raises(ConfigError, match="columns are token"):
            read(tmp_path, "", **wrong)


def test_questions_have_the_predicates_of_the_file_if_it_has_a_column_for_them(tmp_path: Path) -> None:
    path = tmp_path / "questions.txt"
    path.write_text("It\nfell\n\nIt\tPRP\t-\nfell\tVBD\tfall.01\n\nIt\tPRP\t-\n", encoding="utf-8")
    found = TASK.read_questions(str(path), None)
    assert [question.given for question in found] == [(), (1, 2), (1,)]


def test_an_apostrophe_of_a_book_is_read_as_that_of_a_keyboard_and_written_as_it_was(tmp_path: Path) -> None:
    text = "Anna\tNNP\t-\t(A0*)\n’s\tPOS\t-\t*\ngone\tVBN\tgo.01\t(V*)\n\n"
    (example,) = read(tmp_path, text)
    assert example.tokens == ("Anna", "'s", "gone")
    assert "".join(f"{line}\n" for line in TASK.write([example], [example.answer])) == text

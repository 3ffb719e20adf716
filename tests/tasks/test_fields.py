"""CSV and JSON lines by the names of their fields."""

import gzip
import json
from pathlib import Path

import pytest
from tests.tasks.conftest import SAMPLES_OF_TASKS, small_recipe

from elmo.errors import InputError
from elmo.tasks.examples import Example

SAMPLE = SAMPLES_OF_TASKS["classification of lines"]
TASK = small_recipe(SAMPLE).make_task()
ROWS = [("positive", 'She said "yes", twice.'), ("negative", "Two\nlines of it."), ("positive", "Fine, thanks.")]


def read(path: Path, content: str) -> list[Example]:
    path.write_text(content, encoding="utf-8")
    return TASK.read(str(path))


def test_csv_is_read_with_quotes_commas_and_line_ends_in_it(tmp_path: Path) -> None:
    rows = ['1,"She said ""yes"", twice.",positive', "", '2,"Two\nlines of it.",negative', '3,"Fine, thanks.",positive']
    content = "\r\n".join(["\ufeffid,text,label", *rows, ""])
    found = read(tmp_path / "a.csv", content)
    assert [(e.answer, e.raw.text) for e in found if e.raw is not None] == ROWS
    assert [e.place.rpartition(": ")[2] for e in found] == ["line 2", "line 4", "line 6"]
    assert list(TASK.write(found, [e.answer for e in found]))[1] == "negative\tTwo lines of it."


def test_json_lines_are_read_and_labels_may_be_numbers(tmp_path: Path) -> None:
    lines = [json.dumps({"text": text, "label": label}) for label, text in ROWS]
    found = read(tmp_path / "a.jsonl", "\n\n".join(lines))
    assert [(e.answer, e.raw.text) for e in found if e.raw is not None] == ROWS
    assert read(tmp_path / "b.jsonl", '{"text": "Fine.", "label": 1}\n')[0].answer == "1"
    with gzip.open(tmp_path / "c.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines))
    assert [e.texts for e in TASK.read(str(tmp_path / "c.jsonl.gz"))] == [e.texts for e in found]


def test_questions_need_no_label_and_fields_may_have_other_names(tmp_path: Path) -> None:
    task = small_recipe(SAMPLE, task__text_field="review", task__label_field="stars").make_task()
    (tmp_path / "a.csv").write_text("review\nIt was fine.\n", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"review": "It was fine."}\n', encoding="utf-8")
    for name in ("a.csv", "b.jsonl"):
        (found,) = task.read_questions(str(tmp_path / name), None)
        assert found.tokens == ("It", "was", "fine", ".")
        assert found.answer is None
        with pytest.raises(InputError, match=r"line 1 has no field 'stars' with a text \(there are 'review'\)"):
            task.read(str(tmp_path / name))


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.csv", "text,label\nfine\n", "line 2 has 1 fields, but the header has 2"),
        ("a.csv", 'text,label\n"fine,good\n', "is not CSV: unexpected end of data"),
        ("a.csv", "text,label\nfine,\n", "line 2 has no label"),
        ("a.csv", "text,label\n", "has no examples"),
        ("a.csv", "label\tfine\n", "line 1 has no field 'text'"),
        ("a.jsonl", "[1]\n", "line 1 is not an object"),
        ("a.jsonl", "text\n", "line 1 is not JSON"),
        ("a.jsonl", "[" * 100_000, "line 1 is not JSON"),
        ("a.jsonl", '{"text": 3, "label": "x"}\n', "line 1 has no field 'text'"),
        ("a.jsonl", '{"text": "", "label": "x"}\n', "line 1 has no text"),
        ("a.jsonl", '{"text": "a \\ud800", "label": "x"}\n', "line 1 has half of a character"),
    ],
)
def test_what_is_malformed_fails_with_its_line(name: str, content: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=problem) as error:
        read(tmp_path / name, content)
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(str(tmp_path / name))

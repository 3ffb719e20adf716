"""Column files: CoNLL-2003, CoNLL-U, tabs and blanks, chosen columns."""

from pathlib import Path

import pytest
from tests.tasks.conftest import SAMPLES

from elmo.errors import ConfigError, InputError
from elmo.tasks.recipes import find_recipe
from elmo.tasks.tagging.columns import read_column_sentences
from elmo.tasks.tagging.task import Tagging, TaggingConfig


def test_document_starts_comments_and_multiword_tokens_are_left_out() -> None:
    words = [row.columns[0] for row in next(iter(read_column_sentences(str(SAMPLES / "ner-train.txt"))))]
    assert words[:2] == ["Maria", "Keller"]
    sentences = list(read_column_sentences(str(SAMPLES / "pos-train.conllu")))
    assert len(sentences) == 8
    assert [row.columns[1] for row in sentences[1]][:5] == ["The", "Northgate", "Bank", "opened", "an"]


def test_iob1_is_read_as_what_it_means() -> None:
    examples = Tagging(TaggingConfig()).read(str(SAMPLES / "ner-train.txt"))
    assert examples[4].answer == ("B-LOC", "B-LOC", "O", "B-LOC", "O", "O", "O")
    assert examples[4].place.endswith("ner-train.txt: line 39")


@pytest.mark.parametrize(("column", "expected"), [(2, "NNP"), (-3, "NNP"), (None, "B-PER")])
def test_a_column_is_chosen_from_either_end(column: int | None, expected: str) -> None:
    task = Tagging(TaggingConfig(label_column=column, chunks=column is None))
    assert task.read(str(SAMPLES / "ner-train.txt"))[0].answer[0] == expected


def test_universal_tags_of_conllu_are_column_four() -> None:
    task = Tagging(TaggingConfig(label_column=4, chunks=False))
    assert task.read(str(SAMPLES / "pos-train.conllu"))[0].answer[0] == "PROPN"


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "few.txt"
    path.write_text("one B-A\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1 has 2 columns, so there is no column 4"):
        Tagging(TaggingConfig(label_column=4)).read(str(path))
    with pytest.raises(ConfigError, match="count from 1"):
        TaggingConfig(label_column=0)


def test_tabs_part_columns_where_there_are_any(tmp_path: Path) -> None:
    path = tmp_path / "tabs.txt"
    path.write_text("New York\tB-LOC\nis\tO\n", encoding="utf-8")
    assert Tagging(TaggingConfig()).read(str(path))[0].tokens == ("New York", "is")


def test_conllu_without_tags_of_the_language_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "some.conllu"
    path.write_text("1\tYes\tyes\tINTJ\t_\t_\t0\troot\t_\t_\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 1 has no label in column 5 .* --label-column: 4"):
        Tagging(TaggingConfig(chunks=False)).read(str(path))
    assert Tagging(TaggingConfig(chunks=False, label_column=4)).read(str(path))[0].answer == ("INTJ",)


def test_a_long_label_is_named_by_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "c.txt"
    path.write_text("Paul " + "(" * 20_000 + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1 has the label") as refused:
        find_recipe("ner").make_task().read(str(path))
    assert len(str(refused.value)) < 1000

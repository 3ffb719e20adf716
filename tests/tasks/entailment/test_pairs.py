"""Pairs from files: SNLI's JSON in both of its tokenizations, .csv, lines with tabs; what is wrong is named."""

import json
from pathlib import Path

import pytest
from tests.tasks.conftest import SAMPLES_OF_TASKS, small_recipe

from elmo.errors import ConfigError, InputError
from elmo.tasks.examples import Example
from elmo.tasks.recipes import find_recipe
from elmo.text.tokenizer import Tokenizer

SAMPLE = SAMPLES_OF_TASKS["entailment"]
TASK = small_recipe(SAMPLE).make_task()
PLAIN = ("The cook (a man) said \"dinner's ready\". He didn't sit down.", "He cannot rest.")
TREEBANK = ("The cook -LRB- a man -RRB- said `` dinner 's ready '' . He did n't sit down .", "He can not rest .")
WORDS = [
    *["The", "cook", "(", "a", "man", ")", "said", '"', "dinner", "'s", "ready", '"', "."],
    *["He", "did", "n't", "sit", "down", "."],
]


def read(path: Path, content: str) -> list[Example]:
    path.write_text(content, encoding="utf-8")
    return TASK.read(str(path))


def snli(premise: str, hypothesis: str, label: str = "neutral") -> str:
    return json.dumps({"gold_label": label, "sentence1": premise, "sentence2": hypothesis}) + "\n"


def test_plain_text_and_treebank_tokens_are_the_same_sentences(tmp_path: Path) -> None:
    plain, tokenized = read(tmp_path / "a.jsonl", snli(*PLAIN) + snli(*TREEBANK))
    assert plain.texts == tokenized.texts
    assert plain.texts[0].tokens == tuple(WORDS)
    assert plain.texts[0].ends == (13, 19)
    assert plain.texts[1].tokens == ("He", "can", "not", "rest", ".")


def test_all_formats_hold_the_same_pairs(tmp_path: Path) -> None:
    premise, hypothesis = PLAIN
    first = read(tmp_path / "a.jsonl", snli(*PLAIN))
    other = json.dumps({"premise": premise, "hypothesis": hypothesis, "label": "neutral"})
    quoted = ",".join('"' + text.replace('"', '""') + '"' for text in PLAIN)
    for name, content in (
        ("b.tsv", f"neutral\t{premise}\t{hypothesis}\n"),
        ("c.jsonl", other),
        ("d.csv", f"premise,hypothesis,label\n{quoted},neutral\n"),
        ("e.csv", f"sentence1,sentence2,gold_label\n{quoted},neutral\n"),
    ):
        found = read(tmp_path / name, content)
        assert [(e.texts, e.answer) for e in found] == [(e.texts, e.answer) for e in first]


def test_fields_may_have_other_names_and_labels_may_be_others(tmp_path: Path) -> None:
    task = find_recipe("entailment").changed(
        {"task.premise_field": "a", "task.hypothesis_field": "b", "task.label_field": "c", "task.labels": ["0", "1"]}
    ).make_task()  # fmt: skip
    (tmp_path / "a.jsonl").write_text('{"a": "One two.", "b": "Two.", "c": 1}\n{"a": "x", "b": "y", "c": 0}\n')
    assert [e.answer for e in task.read(str(tmp_path / "a.jsonl"))] == ["1", "0"]
    with pytest.raises(ConfigError, match="two or more different ones"):
        find_recipe("entailment").changed({"task.labels": ["yes", "yes"]})


def test_pairs_without_an_agreed_label_are_left_out_and_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    found = read(tmp_path / "a.jsonl", snli(*PLAIN) + snli("x", "y", "-") + snli("x", "z", "-"))
    assert len(found) == 1
    assert "a.jsonl: 2 pair(s) without a label" in caplog.text


def test_questions_need_no_label_and_empty_lines_of_text_stay(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"sentence1": "One.", "sentence2": "Two."}\n', encoding="utf-8")
    (tmp_path / "b.txt").write_text("One.\tTwo.\n\nThree.\tFour.\n", encoding="utf-8")
    (question,) = TASK.read_questions(str(tmp_path / "a.jsonl"), None)
    assert question.answer is None
    with pytest.raises(InputError, match="line 1 has no field 'gold_label'"):
        TASK.read(str(tmp_path / "a.jsonl"))
    questions = TASK.read_questions(str(tmp_path / "b.txt"), Tokenizer())
    assert [len(e.tokens) for e in questions] == [2, 0, 2]
    assert list(TASK.write(questions, ["neutral", None, "neutral"])) == [
        "neutral\tOne.\tTwo.", "", "neutral\tThree.\tFour.",
    ]  # fmt: skip
    (tmp_path / "b.txt").write_text("One. Two.\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 1 has 0 tab\(s\)"):
        TASK.read_questions(str(tmp_path / "b.txt"), Tokenizer())


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.jsonl", snli("A.", "B.", "entailmnet"), "line 1 has the label 'entailmnet', which is none of"),
        ("a.jsonl", snli("A.", "B.") + snli(" ", "B."), "line 2 has an empty premise; give it words"),
        ("a.jsonl", snli("A.", ""), "line 1 has an empty hypothesis"),
        ("a.jsonl", snli("A.", "B.") + snli("A.", "B.")[:30], "line 2 is not JSON"),
        ("a.jsonl", snli("A.", "B.", ""), "line 1 has no label"),
        ("a.jsonl", '{"gold_label": "neutral", "sentence1": "A."}\n', "line 1 has no field 'sentence2'"),
        ("a.jsonl", '{"gold_label": [1], "sentence1": "A.", "sentence2": "B."}\n', "line 1 has no field 'gold_label"),
        ("a.tsv", "neutral\tA.\n", r"line 1 has 1 tab\(s\); `label<TAB>premise<TAB>hypothesis` is wanted"),
        ("a.tsv", "A.\tB.\tneutral\n", "line 1 has the label 'A.'"),
        ("a.tsv", "\n", "has no examples"),
        ("a.jsonl", snli("x", "y", "-"), "has no examples"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_file_and_line(name: str, content: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=problem) as error:
        read(tmp_path / name, content)
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(str(tmp_path / name))

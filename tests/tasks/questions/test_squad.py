"""SQuAD's JSON: what is read and written, and that everything wrong in it is named with its article and question."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from tests.tasks.conftest import SAMPLES_OF_TASKS, small_recipe

from elmo.errors import InputError
from elmo.tasks.questions.answer import AnswerPiece
from elmo.text.tokenizer import Tokenizer

SAMPLE = SAMPLES_OF_TASKS["questions"]
TASK = small_recipe(SAMPLE).make_task()
CONTEXT = "Élan: the “old” bridge isn’t new. It was opened in 1894 by Clara Weiss."


def squad(*questions: dict[str, Any], context: str = CONTEXT) -> dict[str, Any]:
    return {"version": "1.1", "data": [{"title": "Bridge", "paragraphs": [{"context": context, "qas": [*questions]}]}]}


def asked(text: str, start: int | None = None, **other: Any) -> dict[str, Any]:
    answers = [{"text": text, "answer_start": CONTEXT.index(text) if start is None else start}]
    return {"id": "q1", "question": "Who opened it?", "answers": answers, **other}


def write(path: Path, value: Any) -> str:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return str(path)


def test_answers_are_tokens_whose_places_are_characters(tmp_path: Path) -> None:
    (example,) = TASK.read(write(tmp_path / "a.json", squad(asked("Clara Weiss"))))
    first, last = TASK.encode(example, {})
    assert example.tokens[first : last + 1] == ("Clara", "Weiss")
    assert example.answer == AnswerPiece("Clara Weiss", CONTEXT.index("Clara"), len(CONTEXT) - 1)
    assert example.texts[0].ends == (11, 20)
    assert example.texts[1].tokens == ("Who", "opened", "it", "?")
    assert "n't" in example.tokens  # read with another apostrophe than it is written with
    assert example.as_written().text == CONTEXT


@pytest.mark.parametrize(
    ("text", "words"),
    [("189", ["1894"]), ("lara We", ["Clara", "Weiss"]), (" 1894 ", ["1894"]), ("isn’t", ["is", "n't"])],
)
def test_an_answer_inside_of_tokens_is_learned_with_all_of_them(text: str, words: list[str], tmp_path: Path) -> None:
    (example,) = TASK.read(write(tmp_path / "a.json", squad(asked(text))))
    first, last = TASK.encode(example, {})
    assert list(example.tokens[first : last + 1]) == words


def test_questions_need_no_answers_and_compressed_files_are_read(tmp_path: Path) -> None:
    question = {"id": 7, "question": "Who opened it?"}
    content = json.dumps(squad(question)).encode()
    for name, written in (("a.json", content), ("a.json.gz", gzip.compress(content))):
        (tmp_path / name).write_bytes(written)
        (example,) = TASK.read_questions(str(tmp_path / name), None)
        assert (example.answer, example.also) == (None, ())
    with pytest.raises(InputError, match=r"no question is asked about it: --question"):
        TASK.read_questions(str(tmp_path / "a.json"), Tokenizer())


def test_lines_of_json_hold_the_same_questions(tmp_path: Path) -> None:
    question = asked("1894")
    wanted = TASK.read(write(tmp_path / "a.json", squad(question)))
    texts, starts = (["1894"], [CONTEXT.index("1894")])
    for answers in (question["answers"], {"text": texts, "answer_start": starts}):
        line = json.dumps({**question, "context": CONTEXT, "answers": answers})
        found = TASK.read(write(tmp_path / "a.jsonl", f"{line}\n\n{line}\n"))
        assert [(e.texts, e.answer) for e in found] == [(wanted[0].texts, wanted[0].answer)] * 2
        assert found[1].place == f"{tmp_path / 'a.jsonl'}: line 3 (id 'q1')"
    (tmp_path / "b.jsonl").write_text(json.dumps({"context": CONTEXT, "question": "Who?"}), encoding="utf-8")
    assert TASK.read_questions(str(tmp_path / "b.jsonl"), None)[0].texts[0] == wanted[0].texts[0]
    for line, problem in (
        ({"context": CONTEXT, "question": "Who?"}, "line 1: has no list 'answers'"),
        (
            {"context": CONTEXT, "question": "Who?", "answers": {"text": texts}},
            "line 1: answers: has no list 'answer_st",
        ),
        ({"context": CONTEXT, "question": "Who?", "answers": {"text": texts, "answer_start": []}}, "1 answers, and 0"),
        ({"question": "Who?"}, "line 1: has no 'context'"),
        ([], "line 1: has no 'context'"),
        ("{", "line 1: has no 'context'"),
    ):
        with pytest.raises(InputError, match=problem):
            TASK.read(write(tmp_path / "a.jsonl", json.dumps(line)))
    with pytest.raises(InputError, match="line 2 is not JSON"):
        TASK.read(write(tmp_path / "a.jsonl", "\n{"))


def test_all_answers_count_and_written_files_are_read_again(tmp_path: Path) -> None:
    question = asked("1894")
    question["answers"].append({"text": "in 1894", "answer_start": CONTEXT.index("in 1894")})
    examples = TASK.read(write(tmp_path / "a.json", squad(question, {**asked("Clara Weiss"), "id": "q2"})))
    assert [answer.text for answer in examples[0].also] == ["in 1894"]
    start = CONTEXT.index("in 1894")
    given = [AnswerPiece("in 1894", start, start + 7), None]
    assert TASK.score(examples, given) == {"f1": 50.0, "exact_match": 50.0}
    (line,) = TASK.write(examples, given)
    again = TASK.read_questions(write(tmp_path / "b.json", line), None)
    assert [e.texts for e in again] == [e.texts for e in examples]
    written = json.loads(line)["data"][0]["paragraphs"][0]["qas"]
    assert [q["id"] for q in written] == ["q1", "q2"]
    assert written[1]["answers"] == []


def test_details_are_told_by_kind_of_question(tmp_path: Path) -> None:
    other = {**asked("1894"), "id": "q2", "question": "In which year was it opened?"}
    examples = TASK.read(write(tmp_path / "a.json", squad(asked("Clara Weiss"), other)))
    details = TASK.details(examples, [AnswerPiece("Clara", 0, 5), examples[1].answer])
    assert details.to_dict() == {
        "groups": {
            "which": {"f1": 100.0, "exact_match": 100.0, "questions": 1},
            "who": {"f1": pytest.approx(200 / 3), "exact_match": 0.0, "questions": 1},
        }
    }


GOOD = json.dumps(squad(asked("1894")))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            squad(asked("1894", 3)),
            r"article 1 'Bridge', paragraph 1, question 1 \(id 'q1'\): the answer '1894' is said",
        ),
        (squad(asked("1894", 3)), "where the context has 'n: t'; it stands at 51: correct answer_start"),
        (squad(asked("1905", 3)), "it does not occur in the context"),
        (squad(asked("1894", -5)), "is said to stand at -5"),
        (squad(asked("1894", 10**15)), "is said to stand at 1000000000000000, where the context has ''"),
        (squad(asked("1894", "51")), "has the answer_start '51', no number"),  # type: ignore[arg-type]
        (squad(asked(" ", 5)), "an answer: has an empty 'text'"),
        (squad({"id": "q1", "question": "Who?", "answers": []}), r"\(id 'q1'\): has no answers; leave it out"),
        (squad({"id": "q1", "question": "Who?"}), "has no list 'answers'"),
        (squad(asked("1894", question=" ")), "question 1: has an empty 'question'"),
        (squad(asked("1894", question=3)), "question 1: has no 'question'"),
        (squad(asked("1894", question="Who \ud800?")), "question 1: has half of a character"),
        (squad(asked("1894"), context=""), "paragraph 1: has an empty 'context'"),
        (GOOD[:200], r"line 1 is not JSON \(.*\); was the file cut off"),
        ("[" * 100_000, "is not JSON that can be read"),
        ('{"data": [' + "9" * 5000 + "]}", "is not JSON that can be read"),
        ([], "has no list 'data'"),
        ({"data": [3]}, "article 1: has no list 'paragraphs'"),
        ({"data": [{"paragraphs": [[]]}]}, "article 1, paragraph 1: has no 'context'"),
        ({"data": []}, "has no questions"),
        ("\n", "has no questions"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_question(content: Any, problem: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", content)
    with pytest.raises(InputError, match=problem) as error:
        TASK.read(path)
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(path)


def test_an_id_that_comes_twice_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    TASK.read(write(tmp_path / "a.json", squad(asked("1894"), asked("Clara Weiss"))))
    assert "1 id(s) stand there more than once, such as 'q1'" in caplog.text

"""Questions about long texts: windows in training and answering, what is lost is counted, places are the text's own."""

import json
import logging
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from tests.tasks.conftest import SAMPLES_OF_TASKS, small_recipe

from elmo.errors import ConfigError, InputError
from elmo.tasks.examples import Example
from elmo.tasks.questions.answer import AnswerPiece
from elmo.tasks.questions.spans import Found, ScoredSpan
from elmo.tasks.questions.task import QuestionAnswering
from elmo.tasks.training.directory import load_trained_task
from elmo.tasks.training.trainer import train_task
from elmo.weights.loaded import LoadedModel

SAMPLE = SAMPLES_OF_TASKS["questions"]
SENTENCES = [f"Tower {n} was built by Mason {n} of Lindow ." for n in range(12)]
CONTEXT = "  ".join(SENTENCES)  # 10 tokens a sentence


def make(**changes: object) -> QuestionAnswering:
    options = {"task__window": 30, "task__longest_answer": 5, **changes}
    task = small_recipe(SAMPLE, **options).make_task()
    assert isinstance(task, QuestionAnswering)
    return task


def examples(task: QuestionAnswering, path: Path, *answers: str, context: str = CONTEXT) -> list[Example]:
    questions = [
        {"id": str(n), "question": f"Who built {n}?", "answers": [{"text": a, "answer_start": context.index(a)}]}
        for n, a in enumerate(answers)
    ]
    path.write_text(json.dumps({"data": [{"paragraphs": [{"context": context, "qas": questions}]}]}), "utf-8")
    return task.read(str(path))


def test_training_sees_the_window_that_has_the_answer(tmp_path: Path) -> None:
    task = make()
    found = examples(task, tmp_path / "a.json", *(f"Mason {n}" for n in range(12)))
    assert len(task.windows(found[0])) > 3
    for number, window in enumerate(task.training_examples(found)):
        first, last = task.encode(window, {})
        assert window.tokens[first : last + 1] == ("Mason", str(number))
        assert len(window.tokens) <= 30
        start, end = window.given
        assert start <= first < end


def test_what_training_cannot_learn_as_it_is_is_counted_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    task = make()
    whole = CONTEXT[CONTEXT.index("Mason 0") : CONTEXT.index("Mason 5")]
    found = examples(task, tmp_path / "a.json", "ason 3", "Mason 4 of Lindow .  Tower 5 was", whole)
    assert len(task.training_examples(found)) == 2
    told = caplog.text
    assert "of 3 training questions: 1 answers begin or end inside of a token" in told
    assert "2 answers have more than 5 tokens" in told
    assert "2 texts have more than 30 tokens" in told
    assert "1 of 3 training questions are left out, since no window of 30 tokens" in told
    assert "(id '2'); a larger one does (--set task.window=60)" in told
    with pytest.raises(InputError, match="no training question is left; name a larger window"):
        task.training_examples(found[2:])


def test_the_best_answer_of_all_windows_wins_and_probabilities_are_of_the_whole_text(tmp_path: Path) -> None:
    task = make()
    (example,) = examples(task, tmp_path / "a.json", "Mason 7")
    windows = task.windows(example)
    founds = [Found((ScoredSpan(0, 1, 1.0), ScoredSpan(5, 6, 0.5)), 2.0) for _ in windows]
    number = next(n for n, window in enumerate(windows) if "7" in window.tokens)
    place = windows[number].tokens.index("7")
    founds[number] = Found((ScoredSpan(place, place, 3.0),), 4.0)
    joined = task.join(example, windows, founds)
    answer = task.decode(example, joined, [])
    assert CONTEXT[answer.start : answer.end] == answer.text == "7"
    total = math.exp(4) + (len(windows) - 1) * math.exp(2)
    assert joined.probability(joined.spans[0]) == pytest.approx(math.exp(3) / total)
    (told,) = task.report([example], [joined], [])
    assert told["answers"][0] == {
        "text": "7", "start": answer.start, "end": answer.end, "probability": round(math.exp(3) / total, 6),
    }  # fmt: skip
    assert len({a["text"] for a in told["answers"]}) == len(told["answers"])


def test_answers_to_long_texts_stand_where_they_say(model: LoadedModel, tmp_path: Path) -> None:
    recipe = small_recipe(SAMPLE, task__window=30, task__longest_answer=5, train__epochs=25)
    task = recipe.make_task()
    assert isinstance(task, QuestionAnswering)
    found = examples(task, tmp_path / "a.json", "Mason 1", "Mason 10")
    trained = train_task("questions", recipe, found, found, tmp_path / "run", model=model, device="cpu").trained
    assert trained is not None
    for answer in trained.predict(found):
        assert CONTEXT[answer.start : answer.end] == answer.text
    for told in trained.report(found):
        assert 1 >= told["answers"][0]["probability"] >= told["answers"][-1]["probability"] > 0
        places = sorted((a["start"], a["end"]) for a in told["answers"])
        assert all(CONTEXT[a["start"] : a["end"]] == a["text"] for a in told["answers"])
        assert all(one[1] <= other[0] for one, other in pairwise(places))
    loaded = load_trained_task(tmp_path / "run", device="cpu")
    assert loaded.predict(found) == trained.predict(found)


def test_other_right_answers_are_part_of_what_a_run_is(model: LoadedModel, tmp_path: Path) -> None:
    recipe = small_recipe(SAMPLE, train__epochs=1)
    task = recipe.make_task()
    train, dev = task.read(str(SAMPLE.train)), task.read(str(SAMPLE.dev))
    train_task("questions", recipe, train, dev, tmp_path / "run", model=model, device="cpu")
    other = [replace(dev[0], also=(AnswerPiece("x", 0, 1),)), *dev[1:]]
    assert train_task("questions", recipe, train, dev, tmp_path / "run", model=model, device="cpu", resume=True).done
    with pytest.raises(Exception, match="dev examples"):
        train_task("questions", recipe, train, other, tmp_path / "run", model=model, device="cpu", resume=True)


def test_a_text_without_words_cannot_be_asked_about(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(" \n\n", encoding="utf-8")
    with pytest.raises(InputError, match="has no text to be asked about"):
        make().ask(str(tmp_path / "a.txt"), ["Who?"])
    (tmp_path / "a.txt").write_text("Anna did.\r\nBob too.\n", encoding="utf-8")
    with pytest.raises(InputError, match="has no words in its question"):
        make().ask(str(tmp_path / "a.txt"), [" "])
    (example,) = make().ask(str(tmp_path / "a.txt"), ["Who?"])
    assert example.as_written().text.startswith("Anna did.\nBob too.")


@pytest.mark.parametrize("changes", [{"task.window": 33}, {"task.longest_answer": 0}, {"task.language": "no language"}])
def test_options_that_make_no_sense_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        small_recipe(SAMPLE).changed(changes)

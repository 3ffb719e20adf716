"""SQuAD v1.1's JSON: articles of paragraphs with questions, and answers with their places in the paragraph.

Or its questions as lines of JSON, each with its own context, as data set libraries write them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from elmo.disk.guarded.plainfiles import bounded_integer, finite_float, shortened
from elmo.errors import InputError
from elmo.tasks.fields import has_half_characters, is_json_lines
from elmo.tasks.questions.answer import AnswerPiece
from elmo.text.lines import read_lines

LONGEST_FILE = 1 << 30  # bytes of a line: the file is often one


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question about a paragraph, with the answers that are right, and where it stands in its file."""

    place: str
    title: str
    context: str
    id: str
    question: str
    answers: tuple[AnswerPiece, ...]


def read_squad(path: str, *, answers: bool) -> Iterator[Asked]:
    """The questions of a file, with their `answers`, each of which has some then, or without."""
    if is_json_lines(path):
        yield from _read_lines(path, answers=answers)
        return
    text = "\n".join(line for _, line in read_lines(path, longest=LONGEST_FILE))
    if not text.strip():
        return
    try:
        root = json.loads(text, parse_float=finite_float, parse_int=bounded_integer, parse_constant=finite_float)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}: line {error.lineno} is not JSON ({error.msg}, column {error.colno}); was the file cut off? "
            "SQuAD's JSON is wanted, whole"
        ) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not JSON that can be read ({' '.join(str(error).split())[:100]})") from None
    for n, article in enumerate(_list(root, "data", path), start=1):
        title = article.get("title", "") if isinstance(article, Mapping) else ""
        title = title if isinstance(title, str) else ""
        of_article = f"{path}: article {n}" + (f" {shortened(title)}" if title else "")
        for m, paragraph in enumerate(_list(article, "paragraphs", of_article), start=1):
            of_paragraph = f"{of_article}, paragraph {m}"
            context = _text(paragraph, "context", of_paragraph)
            for k, asked in enumerate(_list(paragraph, "qas", of_paragraph), start=1):
                yield _asked(asked, context, title, f"{of_paragraph}, question {k}", answers=answers)


def _read_lines(path: str, *, answers: bool) -> Iterator[Asked]:
    for number, line in read_lines(path):
        place = f"{path}: line {number}"
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{place} is not JSON: {' '.join(str(error).split())[:100]}") from None
        context = _text(record, "context", place)
        title = record.get("title", "")
        found = record.get("answers")
        if isinstance(found, Mapping):  # lists side by side, not a list of objects
            texts, starts = (_list(found, name, f"{place}: answers") for name in ("text", "answer_start"))
            if len(texts) != len(starts):
                raise InputError(f"{place}: has {len(texts)} answers, and {len(starts)} places of answers")
            pairs = zip(texts, starts, strict=True)
            record = {**record, "answers": [{"text": text, "answer_start": start} for text, start in pairs]}
        yield _asked(record, context, title if isinstance(title, str) else "", place, answers=answers)


def _asked(asked: Mapping[str, Any], context: str, title: str, place: str, *, answers: bool) -> Asked:
    question = _text(asked, "question", place)
    number = asked.get("id", "")
    number = str(number) if isinstance(number, str | int) else ""
    if number:
        place = f"{place} (id {shortened(number)})"
    return Asked(
        place=place,
        title=title,
        context=context,
        id=number,
        question=question,
        answers=tuple(_answers(asked, context, place)) if answers else (),
    )


def write_squad(asked: Sequence[Asked]) -> str:
    """Questions and answers as one line of such JSON."""
    data = []
    for title, of_title in groupby(asked, key=lambda one: one.title):
        paragraphs = []
        for context, group in groupby(of_title, key=lambda one: one.context):
            questions = [
                {
                    "id": one.id,
                    "question": one.question,
                    "answers": [{"text": answer.text, "answer_start": answer.start} for answer in one.answers],
                }
                for one in group
            ]
            paragraphs.append({"context": context, "qas": questions})
        data.append({"title": title, "paragraphs": paragraphs})
    return json.dumps({"version": "1.1", "data": data}, ensure_ascii=False)


def _answers(asked: Mapping[str, Any], context: str, place: str) -> Iterator[AnswerPiece]:
    found = _list(asked, "answers", place)
    if not found:
        raise InputError(
            f"{place}: has no answers; leave it out (SQuAD 2.0 marks such questions `is_impossible`; every question "
            "has its answer in the text here)"
        )
    for answer in found:
        text = _text(answer, "text", f"{place}: an answer")
        start = answer.get("answer_start")
        if not isinstance(start, int) or isinstance(start, bool):
            raise InputError(
                f"{place}: the answer {shortened(text)} has the answer_start {shortened(start)}, no number"
            )
        end = start + len(text)
        if start < 0 or context[start:end] != text:
            there = shortened(context[max(0, start) : max(0, end)])
            other = context.find(text)
            told = "it does not occur in the context" if other < 0 else f"it stands at {other}"
            raise InputError(
                f"{place}: the answer {shortened(text)} is said to stand at {start}, where the context has {there}; "
                f"{told}: correct answer_start, which counts characters from 0, not bytes"
            )
        yield AnswerPiece(text, start, end)


def _list(value: Any, name: str, place: str) -> list[Any]:
    found = value.get(name) if isinstance(value, Mapping) else None
    if not isinstance(found, list):
        raise InputError(f"{place}: has no list {name!r}; SQuAD's JSON is wanted: data, paragraphs, qas, answers")
    return found


def _text(value: Any, name: str, place: str) -> str:
    found = value.get(name) if isinstance(value, Mapping) else None
    if not isinstance(found, str) or not found.strip():
        told = "an empty" if isinstance(found, str) else "no"
        raise InputError(f"{place}: has {told} {name!r}; a text is wanted there, or leave it out")
    if has_half_characters(found):
        raise InputError(f"{place}: has half of a character (such as \\ud800) in its {name!r}; write it as UTF-8")
    return found

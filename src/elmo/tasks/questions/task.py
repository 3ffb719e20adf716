"""The question answering task: SQuAD v1.1's files, or questions about any text; the official exact match and F1."""

import logging
import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

from elmo.errors import ConfigError, InputError
from elmo.tasks.details import Details
from elmo.tasks.embedding.embedding import TaskEmbedding
from elmo.tasks.examples import Example, Raw, Text
from elmo.tasks.questions.answer import AnswerPiece, best_scores, normalize
from elmo.tasks.questions.model import Bidaf, BidafConfig
from elmo.tasks.questions.spans import Found, ScoredSpan, apart
from elmo.tasks.questions.squad import Asked, read_squad, write_squad
from elmo.tasks.questions.windows import cut_windows, read_long
from elmo.tasks.task import Scores, Task
from elmo.text.lines import read_lines
from elmo.text.tokenizer import Rule, Tokenizer

logger = logging.getLogger(__name__)

CONTEXT, QUESTION = 0, 1  # of an example's texts
KINDS = ("who", "when", "where", "which", "why", "how", "what")  # of questions


@dataclass(frozen=True, kw_only=True)
class QuestionsConfig:
    """A question answering task. `tokenizer`, `language`: how texts become tokens and sentences.

    `window`: tokens of a text that are read at once; a longer one is cut at sentences into windows, each sharing about
    half with the next. `longest_answer`: tokens.
    """

    kind: Literal["questions"] = "questions"
    tokenizer: Rule = "treebank"
    language: str | None = "en"
    window: int = 400
    longest_answer: int = 17
    model: BidafConfig = field(default_factory=BidafConfig)

    def __post_init__(self) -> None:
        if self.longest_answer < 1 or self.window < 2 * self.longest_answer:
            raise ConfigError(
                f"window is {self.window} and longest_answer {self.longest_answer}; an answer has a token or more, and "
                "a window holds two answers at least"
            )
        self.make_tokenizer()  # an unknown language fails here

    def make(self) -> "QuestionAnswering":
        """The task."""
        return QuestionAnswering(self)

    def make_tokenizer(self) -> Tokenizer:
        """How texts become tokens."""
        return Tokenizer(rule=self.tokenizer, language=self.language)


@dataclass(frozen=True)
class QuestionExample(Example):
    """A text and a question about it. `answer` is the one to be learned; those in `also` are as right.

    `given`: the tokens among which an answer may begin; all of them, but in a window of a longer text.
    """

    id: str = ""
    title: str = ""
    question: str = ""


class QuestionAnswering(Task):
    """The piece of a text that answers a question. Answers are `AnswerPiece`s."""

    metric = "f1"
    texts = 2

    def __init__(self, config: QuestionsConfig) -> None:
        self.config = config
        tokenizer = config.make_tokenizer()
        # Questions about one paragraph follow each other.
        self._read_long = lru_cache(maxsize=16)(lambda text: read_long(text, tokenizer, longest=config.window))

    def read(self, path: str) -> list[Example]:
        """The questions of a file of SQuAD's; each has an answer."""
        return self._read(path, answers=True)

    def read_questions(self, path: str, tokenizer: Tokenizer | None) -> list[Example]:
        """The same files, with answers or without."""
        if tokenizer is not None:
            raise InputError(f"{path}: is raw text, and no question is asked about it: --question 'Who ...?' asks one")
        return self._read(path, answers=False)

    def ask(self, path: str, questions: Sequence[str]) -> list[Example]:
        """Questions about the text of a file, in which a line end is one character."""
        context = "\n".join(line for _, line in read_lines(path))
        if not context.strip():
            raise InputError(f"{path}: has no text to be asked about")
        return [
            self._example(Asked(place=path, title="", context=context, id="", question=question, answers=()))
            for question in questions
        ]

    def training_examples(self, examples: Sequence[Example]) -> list[Example]:
        """The window of each text that has the answer. What cannot be learned as it is, is counted and told."""
        learned: list[Example] = []
        lost: list[str] = []
        wider = too_long = windows = 0
        for example in examples:
            first, last = covering(example)
            start, end = _places(example, first, last)
            wider += start < example.answer.start or end > example.answer.end
            too_long += last - first >= self.config.longest_answer
            for window in self.windows(example):
                shift = _shift(example, window)
                if window.given[0] <= first - shift < window.given[1]:
                    if last - shift < len(window.texts[CONTEXT]):
                        learned.append(window)
                        windows += len(window.texts[CONTEXT]) < len(example.texts[CONTEXT])
                    else:
                        lost.append(example.place)
        told = [
            (wider, "answers begin or end inside of a token and are learned with all of it"),
            (
                too_long,
                f"answers have more than {self.config.longest_answer} tokens and are learned, but never given",
            ),
            (windows, f"texts have more than {self.config.window} tokens; the window with the answer is learned"),
        ]
        for count, what in told:
            if count:
                logger.info("of %d training questions: %d %s", len(examples), count, what)
        if lost:
            logger.warning(
                "%d of %d training questions are left out, since no window of %d tokens holds their answer: %s; a "
                "larger one does (--set task.window=%d)",
                len(lost), len(examples), self.config.window, ", ".join(lost[:3]), 2 * self.config.window,
            )  # fmt: skip
        if not learned:
            raise InputError("no training question is left; name a larger window with --set task.window=NUMBER")
        return learned

    def windows(self, example: Example) -> Sequence[Example]:
        """The text as it is, or windows of it; an answer may begin at a token of only one of them."""
        context, question = example.texts
        if len(context) <= self.config.window:
            return (replace(example, given=(0, len(context))),)
        raw = example.as_written()
        found = []
        for window in cut_windows(context, most=self.config.window):
            first, last = window.tokens
            found.append(
                replace(
                    example,
                    texts=(context.part(*window.sentences), question),
                    raw=replace(raw, starts=raw.starts[first:last]),
                    given=(window.own[0] - first, window.own[1] - first),
                )
            )
        return found

    def join(self, example: Example, windows: Sequence[Example], answers: Sequence[Any]) -> Found:
        """The best pieces of all windows, with the probability that they have among all pieces of the whole text."""
        spans = []
        for window, found in zip(windows, answers, strict=True):
            shift = _shift(example, window)
            spans += [ScoredSpan(shift + span.first, shift + span.last, span.score) for span in found.spans]
        spans.sort(key=lambda span: (-span.score, span.first))
        highest = max(found.total for found in answers)
        total = highest + math.log(sum(math.exp(found.total - highest) for found in answers))
        return Found(apart(spans, most=max(len(found.spans) for found in answers)), total)

    def encode(self, example: Example, ids: Mapping[str, int]) -> list[int]:
        """The numbers of the first and the last token of the answer."""
        assert not ids
        return list(covering(example))

    def decode(self, example: Example, answer: Found, labels: Sequence[str]) -> AnswerPiece:
        """The best piece."""
        assert not labels
        return _piece(example, answer.spans[0])

    def build(self, embedding: TaskEmbedding, labels: Sequence[str]) -> Bidaf:
        """A new network."""
        assert not labels
        return Bidaf(embedding, self.config.model, longest=self.config.longest_answer)

    def score(self, examples: Sequence[Example], answers: Sequence[Any]) -> Scores:
        """The official F1 and exact match, means over the questions; one without an answer counts 0."""
        found = list(map(_score, examples, answers))
        count = max(1, len(found))
        return {
            "f1": 100 * sum(f1 for _, f1 in found) / count,
            "exact_match": 100 * sum(exact for exact, _ in found) / count,
        }

    def write(self, examples: Sequence[Example], answers: Sequence[Any]) -> Iterator[str]:
        """One line: the questions with their answers as SQuAD's JSON."""
        asked = []
        for example, answer in zip(examples, answers, strict=True):
            assert isinstance(example, QuestionExample)
            asked.append(
                Asked(
                    place=example.place,
                    title=example.title,
                    context=example.as_written().text,
                    id=example.id,
                    question=example.question,
                    answers=() if answer is None else (answer,),
                )
            )
        yield write_squad(asked)

    def report(
        self,
        examples: Sequence[Example],
        beliefs: Sequence[Found | None],
        labels: Sequence[str],  # noqa: ARG002 - there are none
    ) -> Iterator[dict[str, Any]]:
        """One object a question: its answers, best first, none a part of another, with probability and place."""
        for example, found in zip(examples, beliefs, strict=True):
            assert isinstance(example, QuestionExample)
            answers: dict[str, dict[str, Any]] = {}
            for span in () if found is None else found.spans:
                assert found is not None
                piece = _piece(example, span)
                told = {"text": piece.text, "start": piece.start, "end": piece.end}
                # The same words at another place are the same answer.
                answers.setdefault(normalize(piece.text), {**told, "probability": round(found.probability(span), 6)})
            yield {"id": example.id, "question": example.question, "answers": list(answers.values())}

    def details(self, examples: Sequence[Example], answers: Sequence[Any]) -> Details:
        """Of each kind of question."""
        groups: dict[str, list[tuple[float, float]]] = {}
        for example, answer in zip(examples, answers, strict=True):
            groups.setdefault(kind_of(example.texts[QUESTION]), []).append(_score(example, answer))
        return Details(
            groups={
                kind: {
                    "f1": 100 * sum(f1 for _, f1 in found) / len(found),
                    "exact_match": 100 * sum(exact for exact, _ in found) / len(found),
                    "questions": len(found),
                }
                for kind, found in sorted(groups.items())
            }
        )

    def _read(self, path: str, *, answers: bool) -> list[Example]:
        examples = [self._example(asked) for asked in read_squad(path, answers=answers)]
        if not examples:
            raise InputError(f"{path}: has no questions; SQuAD's JSON is wanted")
        twice = [name for name, count in Counter(e.id for e in examples if e.id).items() if count > 1]
        if twice:
            logger.warning("%s: %d id(s) stand there more than once, such as %.40r", path, len(twice), twice[0])
        return list(examples)

    def _example(self, asked: Asked) -> QuestionExample:
        context, starts = self._read_long(asked.context)
        question, _ = self._read_long(asked.question)
        if not context or not question:
            raise InputError(f"{asked.place}: has no words in its {'question' if context else 'text'}")
        example = QuestionExample(
            (context, question),
            asked.answers[0] if asked.answers else None,
            asked.place,
            Raw(1, asked.context, tuple(starts)),
            (0, len(context)),
            asked.answers[1:],
            asked.id,
            asked.title,
            asked.question,
        )
        if asked.answers:
            covering(example)  # an answer without a token fails here
        return example


def covering(example: Example) -> tuple[int, int]:
    """The first and the last token of the text that the answer has a part of."""
    starts, tokens, answer = example.as_written().starts, example.texts[CONTEXT].tokens, example.answer
    assert isinstance(answer, AnswerPiece)
    first = bisect_right(starts, answer.start) - 1
    if first < 0 or starts[first] + len(tokens[first]) <= answer.start:
        first += 1
    last = bisect_left(starts, answer.end) - 1
    if last < first:
        raise InputError(f"{example.place}: the answer at {answer.start} has no token; is it white space?")
    return first, last


def kind_of(question: Text) -> str:
    """The first word that asks, or `other`."""
    words = [word.lower() for word in question.tokens]
    return next((word for word in words if word in KINDS), "other")


def _piece(example: Example, span: ScoredSpan) -> AnswerPiece:
    start, end = _places(example, span.first, span.last)
    return AnswerPiece(example.as_written().text[start:end], start, end)


def _places(example: Example, first: int, last: int) -> tuple[int, int]:
    starts = example.as_written().starts
    return starts[first], starts[last] + len(example.texts[CONTEXT].tokens[last])


def _shift(example: Example, window: Example) -> int:
    """Which token of the text is the first of its window."""
    return bisect_left(example.as_written().starts, window.as_written().starts[0])


def _score(example: Example, answer: AnswerPiece | None) -> tuple[float, float]:
    """Exact match and F1."""
    wanted = [one.text for one in (example.answer, *example.also)]
    return (0.0, 0.0) if answer is None else best_scores(answer.text, wanted)

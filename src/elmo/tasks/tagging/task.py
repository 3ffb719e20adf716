"""The tagging tasks: chunks scored by F1 (names, phrases), or plain labels scored by accuracy (parts of speech)."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal

from elmo.disk.guarded.plainfiles import shortened
from elmo.errors import ConfigError, InputError
from elmo.tasks.details import Details, confusion_details, label_scores
from elmo.tasks.embedding.embedding import TaskEmbedding
from elmo.tasks.examples import Example, Raw, Text
from elmo.tasks.htmlpage import Mark, MarkedText
from elmo.tasks.rawtext import in_lines, read_raw_sentences, told_tokens
from elmo.tasks.tagging.columns import column, is_conllu, read_column_sentences
from elmo.tasks.tagging.model import Tagger, TaggerConfig
from elmo.tasks.tagging.spans import (
    OUTSIDE,
    chunk_counts,
    chunk_scores,
    find_spans,
    is_tag,
    may_follow,
    write_iob2,
    write_iobes,
)
from elmo.tasks.task import Belief, Scores, Task
from elmo.text.tokenizer import Tokenizer

# Of CoNLL-U: the word form, and the tag of the language's own tag set (XPOS).
CONLLU_TOKEN, CONLLU_LABEL = 2, 5
LENGTHS = {"S": "of one token", "B": "of several tokens", "E": "of several tokens", "I": "of three tokens or more"}
CONLLU_NONE = "_"  # where a column says nothing


@dataclass(frozen=True, kw_only=True)
class TaggingConfig:
    """A tagging task. `chunks`: labels mark chunks (B-, I-, ...). Columns count from 1, or from -1 at the end.

    Columns that are None are the usual ones: of CoNLL-U form and XPOS, else the first and the last.
    """

    kind: Literal["tagging"] = "tagging"
    chunks: bool = True
    token_column: int | None = None
    label_column: int | None = None
    model: TaggerConfig = field(default_factory=TaggerConfig)

    def __post_init__(self) -> None:
        if self.token_column == 0 or self.label_column == 0:
            raise ConfigError("a column is 0; columns count from 1, or from -1 at the end")

    def make(self) -> "Tagging":
        """The task."""
        return Tagging(self)


class Tagging(Task):
    """One label a token. Answers are tuples of tags, chunks in IOB2 whatever the file had."""

    reads_records = False  # a sentence takes as many lines as it has tokens

    def __init__(self, config: TaggingConfig) -> None:
        self.config = config
        self.metric = "f1" if config.chunks else "accuracy"

    def read(self, path: str) -> list[Example]:
        """The sentences of a column file."""
        token, label = self._columns(path)
        examples = []
        for rows in read_column_sentences(path):
            words = tuple(column(row, token, path=path, what="token") for row in rows)
            tags = tuple(column(row, label, path=path, what="label") for row in rows)
            if is_conllu(path) and CONLLU_NONE in tags:
                line = rows[tags.index(CONLLU_NONE)].line
                raise InputError(
                    f"{path}: line {line} has no label in column {label} (_ stands there); name another one with "
                    "--label-column: 4 has the universal tags"
                )
            for row, tag in zip(rows, tags, strict=True):
                if self.config.chunks and not is_tag(tag):
                    raise InputError(
                        f"{path}: line {row.line} has the label {shortened(tag)}; O or B-, I-, E-, S- with a name is "
                        "wanted. Is it the right column? Labels that mark no chunks are a task of their own (pos)"
                    )
            if self.config.chunks:
                tags = write_iob2(find_spans(tags), len(tags))
            examples.append(Example((Text(words),), tags, f"{path}: line {rows[0].line}"))
        if not examples:
            raise InputError(f"{path}: has no sentences")
        return examples

    def read_questions(self, path: str, tokenizer: Tokenizer | None) -> list[Example]:
        """Tokens of a column file, or lines of raw text, whose sentences are examples of their own."""
        if tokenizer is not None:
            return list(read_raw_sentences(path, tokenizer))
        token, _ = self._columns(path)
        examples = []
        for rows in read_column_sentences(path):
            words = tuple(column(row, token, path=path, what="token") for row in rows)
            line = rows[0].line
            examples.append(Example((Text(words),), None, f"{path}: line {line}", Raw.joined(line, words)))
        return examples

    def find_labels(self, examples: Sequence[Example]) -> list[str]:
        """The tags of the training data, in the scheme that the CRF learns (IOBES)."""
        return sorted({tag for example in examples for tag in self._learned(example.answer)})

    def describe_label(self, label: str) -> str:
        """Chunks by their label and length: what is learned of them (IOBES) may stand in no file."""
        if not self.config.chunks or label == OUTSIDE:
            return super().describe_label(label)
        return f"{label[2:][:40]!r} {LENGTHS[label[0]]}"

    def encode(self, example: Example, ids: Mapping[str, int]) -> list[int]:
        """Ids of the tags of a sentence."""
        return [ids[tag] for tag in self._learned(example.answer)]

    def decode(self, _example: Example, answer: Sequence[int], labels: Sequence[str]) -> tuple[str, ...]:
        """Tags of a sentence."""
        tags = tuple(labels[n] for n in answer)
        return write_iob2(find_spans(tags), len(tags)) if self.config.chunks else tags

    def build(self, embedding: TaskEmbedding, labels: Sequence[str]) -> Tagger:
        """A new tagger; chunk tags that break the scheme are ruled out."""
        edged = [*labels, None]
        allowed = [[not self.config.chunks or may_follow(before, after) for after in edged] for before in edged]
        return Tagger(embedding, self.config.model, allowed=allowed)

    def score(self, examples: Sequence[Example], answers: Sequence[Any]) -> Scores:
        """conlleval's F1, or the accuracy of tokens."""
        gold = [example.answer for example in examples]
        if self.config.chunks:
            return chunk_scores(gold, answers)
        pairs = [pair for wanted, given in zip(gold, answers, strict=True) for pair in zip(wanted, given, strict=True)]
        return {"accuracy": 100 * sum(a == b for a, b in pairs) / max(1, len(pairs))}

    def write(self, examples: Sequence[Example], answers: Sequence[Any]) -> Iterator[str]:
        """`token<TAB>tag` lines with a blank line after each sentence, and for each one without tokens.

        The sentences of one line of raw text stay together, so that there are as many blank lines as lines.
        """
        for _, same_place in groupby(zip(examples, answers, strict=True), key=lambda pair: pair[0].place):
            for example, tags in same_place:
                for word, tag in zip(example.tokens, tags or (), strict=True):
                    yield f"{word}\t{tag}"
            yield ""

    def report(
        self, examples: Sequence[Example], beliefs: Sequence[Belief | None], labels: Sequence[str]
    ) -> Iterator[dict[str, Any]]:
        """One object a line of raw text (or sentence of a column file) with its sentences, their tokens and chunks."""
        for values, pairs in in_lines(examples, beliefs):
            sentences = [self._sentence(e, belief, labels) for e, belief in pairs if belief is not None]
            yield {**values, "sentences": sentences}

    def marked_texts(self, reports: Iterable[Mapping[str, Any]]) -> Iterator[MarkedText]:
        """Each line of text with its chunks, or with the tag of each token."""
        for values in reports:
            parts = [
                part
                for sentence in values["sentences"]
                for part in sentence["spans" if self.config.chunks else "tokens"]
            ]
            labels = [part["label" if self.config.chunks else "tag"] for part in parts]
            yield MarkedText(
                values["text"],
                tuple(
                    Mark(part["start"], part["end"], label, label, f"{label} {part['probability']:.2f}")
                    for part, label in zip(parts, labels, strict=True)
                ),
            )

    def details(self, examples: Sequence[Example], answers: Sequence[Any]) -> Details:
        """Of each kind of chunk, or of each tag."""
        gold = [example.answer for example in examples]
        if self.config.chunks:
            return Details(labels=label_scores(chunk_counts(gold, answers)))
        pairs = zip(gold, answers, strict=True)
        return confusion_details(pair for tags in pairs for pair in zip(*tags, strict=True))

    def _sentence(self, example: Example, belief: Belief, labels: Sequence[str]) -> dict[str, Any]:
        raw, told = example.as_written(), told_tokens(example)
        tags = self.decode(example, belief.answer, labels)
        learned = [labels[n] for n in belief.answer]
        tokens = []
        for n, tag in enumerate(tags):
            # The tagger knows more tags than it gives: B-X stands for those that begin an X, I-X for the other two.
            same = [k for k, label in enumerate(labels) if self._given(label) == self._given(learned[n])]
            probability = sum(belief.probabilities[n][k] for k in same)
            tokens.append({**told[n], "tag": tag, "probability": _rounded(probability)})
        found: dict[str, Any] = {"start": told[0]["start"], "end": told[-1]["end"], "tokens": tokens}
        if self.config.chunks:
            found["spans"] = []
            for first, last, label in find_spans(learned):
                begins = belief.probabilities[first][belief.answer[first]]
                probability = begins * math.prod(belief.after[first + 1 : last])
                start, end = told[first]["start"], told[last - 1]["end"]
                chunk = {"text": raw.text[start:end], "start": start, "end": end}
                found["spans"].append({**chunk, "label": label, "probability": _rounded(probability)})
        return found

    def _given(self, label: str) -> str:
        """The tag that a learned one is given as, all by itself."""
        if not self.config.chunks or label == OUTSIDE:
            return label
        return ("B" if label[0] in "BS" else "I") + label[1:]

    def _learned(self, tags: Sequence[str]) -> Sequence[str]:
        return write_iobes(find_spans(tags), len(tags)) if self.config.chunks else tags

    def _columns(self, path: str) -> tuple[int, int]:
        usual = (CONLLU_TOKEN, CONLLU_LABEL) if is_conllu(path) else (1, -1)
        return self.config.token_column or usual[0], self.config.label_column or usual[1]


def _rounded(probability: float) -> float:
    return round(min(1.0, probability), 6)

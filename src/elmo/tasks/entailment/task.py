"""The entailment task: does the premise say what the hypothesis does, the contrary, or neither? Accuracy."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from elmo.disk.guarded.plainfiles import shortened
from elmo.errors import ConfigError, InputError
from elmo.tasks.embedding.embedding import TaskEmbedding
from elmo.tasks.entailment.model import Esim, EsimConfig
from elmo.tasks.entailment.pairs import KNOWN_FIELDS, read_pairs, read_side
from elmo.tasks.examples import Example, Raw, Text
from elmo.tasks.fields import Fields, Record
from elmo.tasks.onelabel import OneLabelTask, told_belief
from elmo.tasks.task import Belief
from elmo.text.lines import read_lines
from elmo.text.tokenizer import Rule, Tokenizer

logger = logging.getLogger(__name__)

UNDECIDED = ("-", "-1")  # SNLI's pairs on whose label its annotators did not agree: no one is scored on them


@dataclass(frozen=True, kw_only=True)
class EntailmentConfig:
    """An entailment task. `labels`: those that a file may have; None: any.

    `tokenizer`: how texts become tokens, which leaves treebank tokens as they are; None: they stand between white
    space. `premise_field`, `hypothesis_field`, `label_field`: the names of those in .jsonl and .csv files; None: SNLI's
    (sentence1, sentence2, gold_label), or premise, hypothesis, label.
    """

    kind: Literal["entailment"] = "entailment"
    labels: tuple[str, ...] | None = ("entailment", "neutral", "contradiction")
    tokenizer: Rule | None = "treebank"
    premise_field: str | None = None
    hypothesis_field: str | None = None
    label_field: str | None = None
    model: EsimConfig = field(default_factory=EsimConfig)

    def __post_init__(self) -> None:
        if self.labels is not None and len(set(self.labels)) < 2:
            raise ConfigError(f"labels are {list(self.labels)!r}; two or more different ones are wanted, or none")

    def make(self) -> "Entailment":
        """The task."""
        return Entailment(self)


class Entailment(OneLabelTask):
    """One label a pair of texts."""

    texts = 2

    def __init__(self, config: EntailmentConfig) -> None:
        self.config = config

    def read(self, path: str) -> list[Example]:
        """SNLI's lines of JSON, .csv, or `label<TAB>premise<TAB>hypothesis`. Pairs that are undecided are left out."""
        examples, undecided = [], 0
        for record in read_pairs(path, self._fields(), answers=True):
            label = (record.label or "").strip()
            if label in UNDECIDED and label not in (self.config.labels or ()):
                undecided += 1
                continue
            self._check_label(label, f"{path}: line {record.line}")
            examples.append(self._example(record, path, answer=label))
        if undecided:
            logger.warning("%s: %d pair(s) without a label that annotators agreed on are left out", path, undecided)
        if not examples:
            raise InputError(f"{path}: has no examples")
        return examples

    def read_questions(self, path: str, tokenizer: Tokenizer | None) -> list[Example]:
        """The same files, also without labels; with a `tokenizer` lines of `premise<TAB>hypothesis`, or empty ones."""
        if tokenizer is None:
            return [self._example(record, path) for record in read_pairs(path, self._fields(), answers=False)]
        examples = []
        for number, line in read_lines(path):
            parts = line.split("\t")
            if not line.strip():
                examples.append(Example((Text(()), Text(())), None, f"{path}: line {number}", Raw(number, line, ())))
            elif len(parts) != 2:
                raise InputError(
                    f"{path}: line {number} has {len(parts) - 1} tab(s); `premise<TAB>hypothesis` is wanted"
                )
            else:
                examples.append(self._example(Record(number, None, (parts[0], parts[1])), path))
        return examples

    def build(self, embedding: TaskEmbedding, labels: Sequence[str]) -> Esim:
        """A new network."""
        return Esim(embedding, self.config.model, labels=len(labels))

    def write(self, examples: Sequence[Example], answers: Sequence[Any]) -> Iterator[str]:
        """`label<TAB>premise<TAB>hypothesis`; an empty line for a pair without tokens, so that lines stay together."""
        for example, label in zip(examples, answers, strict=True):
            yield "" if label is None else "\t".join((label, *_as_written(example)))

    def report(
        self, examples: Sequence[Example], beliefs: Sequence[Belief | None], labels: Sequence[str]
    ) -> Iterator[dict[str, Any]]:
        """One object a pair, with the probability of each label, likeliest first."""
        for example, belief in zip(examples, beliefs, strict=True):
            premise, hypothesis = _as_written(example)
            yield {
                "line": None if example.raw is None else example.raw.line,
                "premise": premise,
                "hypothesis": hypothesis,
                **told_belief(belief, labels),
            }

    def _fields(self) -> list[Fields]:
        config = self.config
        given = (config.premise_field, config.hypothesis_field, config.label_field)
        if not any(given):
            return KNOWN_FIELDS
        usual = KNOWN_FIELDS[0]
        premise, hypothesis, label = (
            own or other for own, other in zip(given, (*usual.texts, usual.label), strict=True)
        )
        return [Fields((premise, hypothesis), label)]

    def _check_label(self, label: str, place: str) -> None:
        known = self.config.labels
        if not label:
            raise InputError(f"{place} has no label; one is wanted before the two texts")
        if known is not None and label not in known:
            listed = ", ".join(f'"{name}"' for name in known)
            raise InputError(
                f"{place} has the label {shortened(label)}, which is none of {listed}; correct it, or say which "
                'labels there are: --set \'task.labels=["yes", "no"]\', or --set task.labels=none for any'
            )

    def _example(self, record: Record, path: str, *, answer: str | None = None) -> Example:
        rule = self.config.tokenizer or "whitespace"
        tokenizer = Tokenizer(rule=rule, language="en" if rule == "treebank" else None)
        texts = tuple(read_side(text, tokenizer) for text in record.texts)
        place = f"{path}: line {record.line}"
        for text, name in zip(texts, ("premise", "hypothesis"), strict=True):
            if not text:
                raise InputError(f"{place} has an empty {name}; give it words, or leave the pair out")
        written = "\t".join(" ".join(text.split()) for text in record.texts)
        return Example(texts, answer, place, Raw(record.line, written, ()))


def _as_written(example: Example) -> list[str]:
    """Premise and hypothesis, white space as single blanks."""
    if example.raw is None:
        return [" ".join(text.tokens) for text in example.texts]
    return example.raw.text.split("\t") if example.tokens else ["", ""]

"""The classification task: sentiment trees, lines of `label<TAB>text`, or fields of .csv and .jsonl; accuracy."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from elmo.errors import ConfigError, InputError
from elmo.tasks.classification.columns import refuse_a_label_each, refuse_swapped
from elmo.tasks.classification.model import BiattentiveClassifier, BiattentiveConfig
from elmo.tasks.classification.trees import Phrase, read_tree
from elmo.tasks.embedding.embedding import TaskEmbedding
from elmo.tasks.examples import Example, Text
from elmo.tasks.fields import Fields, Record, has_fields, read_fields_of
from elmo.tasks.onelabel import OneLabelTask, told_belief
from elmo.tasks.rawtext import raw_example
from elmo.tasks.task import Belief
from elmo.text.lines import read_lines
from elmo.text.tokenizer import Rule, Tokenizer
from elmo.text.tokens import join_sentences

FIELDS_CURE = "--set task.text_field=NAME and task.label_field=NAME say what the fields are called"
NEW_LINE = "\n"  # a text of a .csv or .jsonl file may have some


@dataclass(frozen=True, kw_only=True)
class ClassificationConfig:
    """A classification task. `subphrases`: whether the phrases inside of trees are learned too.

    `sentence_repeats`: how often an epoch has each whole sentence then; phrases outnumber them twenty to one, and have
    other labels (half of them neutral). `tokenizer`: how the text of `label<TAB>text`, of one or more sentences,
    becomes tokens; None: they stand between white space. `text_field`, `label_field`: the names of those in .csv and
    .jsonl files.
    """

    kind: Literal["classification"] = "classification"
    subphrases: bool = True
    sentence_repeats: int = 4
    tokenizer: Rule | None = "treebank"
    text_field: str = "text"
    label_field: str = "label"
    model: BiattentiveConfig = field(default_factory=BiattentiveConfig)

    def __post_init__(self) -> None:
        if self.sentence_repeats < 1:
            raise ConfigError(f"sentence_repeats is {self.sentence_repeats}; it must be at least 1")

    def make(self) -> "Classification":
        """The task."""
        return Classification(self)


@dataclass(frozen=True)
class TreeExample(Example):
    """A sentence with all the phrases in it."""

    phrases: tuple[Phrase, ...] = ()


class Classification(OneLabelTask):
    """One label a text."""

    def __init__(self, config: ClassificationConfig) -> None:
        self.config = config

    def read(self, path: str) -> list[Example]:
        """Fields of .csv and .jsonl; else trees where the first line opens with a bracket, else `label<TAB>text`."""
        examples = list(self._read(path, answers=True))
        if not examples:
            raise InputError(f"{path}: has no examples")
        refuse_swapped(path, [(str(e.answer), e.raw.text) for e in examples if e.raw is not None])
        return examples

    def read_questions(self, path: str, tokenizer: Tokenizer | None) -> list[Example]:
        """The same files, or lines of text alone."""
        if tokenizer is None:
            return list(self._read(path, answers=False))
        own = self._tokenizer()  # whatever the biLM's is: the one of the training text
        lines = ((number, line, join_sentences(own.sentences(line))) for number, line in read_lines(path))
        return [raw_example(tokens, number, line, path=path) for number, line, tokens in lines]

    def training_examples(self, examples: Sequence[Example]) -> list[Example]:
        """Sentences, and the phrases of trees if so configured; the same phrase with the same label once."""
        refuse_a_label_each([str(example.answer) for example in examples])
        if not self.config.subphrases or not any(isinstance(example, TreeExample) for example in examples):
            return list(examples)
        found: dict[tuple[Text, Any], Example] = {}
        for example in examples:
            found.setdefault((example.texts[0], example.answer), example)
            for phrase in example.phrases if isinstance(example, TreeExample) else ():
                text = Text(phrase.words)
                found.setdefault((text, phrase.label), Example((text,), phrase.label, example.place))
        return [*found.values(), *list(examples) * (self.config.sentence_repeats - 1)]

    def build(self, embedding: TaskEmbedding, labels: Sequence[str]) -> BiattentiveClassifier:
        """A new network."""
        return BiattentiveClassifier(embedding, self.config.model, labels=len(labels))

    def write(self, examples: Sequence[Example], answers: Sequence[Any]) -> Iterator[str]:
        """`label<TAB>text` as given; an empty line for a text without tokens, so that lines stay side by side."""
        for example, label in zip(examples, answers, strict=True):
            yield "" if label is None else f"{label}\t{example.as_written().text.replace(NEW_LINE, ' ')}"

    def report(
        self, examples: Sequence[Example], beliefs: Sequence[Belief | None], labels: Sequence[str]
    ) -> Iterator[dict[str, Any]]:
        """One object a text, with the probability of each label, likeliest first."""
        for example, belief in zip(examples, beliefs, strict=True):
            raw = example.as_written()
            yield {
                "line": None if example.raw is None else raw.line,
                "text": raw.text,
                **told_belief(belief, labels),
                "tokens": [
                    {"text": raw.text[start : start + len(word)], "start": start, "end": start + len(word)}
                    for word, start in zip(example.tokens, raw.starts, strict=True)
                ],
            }

    def _tokenizer(self) -> Tokenizer:
        rule = self.config.tokenizer or "whitespace"
        # Only the treebank rule cuts off a period by where the sentence ends.
        return Tokenizer(rule=rule, language="en" if rule == "treebank" else None)

    def _read(self, path: str, *, answers: bool) -> Iterator[Example]:
        trees: bool | None = None
        tokenizer = self._tokenizer()
        if has_fields(path):
            known = [Fields((self.config.text_field,), self.config.label_field)]
            for record in read_fields_of(path, known, answers=answers, cure=FIELDS_CURE):
                yield _labelled(tokenizer, record, path=path, answers=answers)
            return
        for number, line in read_lines(path):
            place = f"{path}: line {number}"
            if not line.strip():
                continue
            if trees is None:
                trees = line.lstrip().startswith("(") and "\t" not in line and line.rstrip().endswith(")")
            if trees:
                phrases = tuple(read_tree(line, place=place))
                yield TreeExample((Text(phrases[0].words),), phrases[0].label, place, phrases=phrases)
                continue
            label, tab, text = line.partition("\t")
            if not tab and answers:
                raise InputError(f"{place} has no tab; `label<TAB>text` is wanted, or a tree in brackets")
            record = Record(number, label if tab else None, (text if tab else line,))
            yield _labelled(tokenizer, record, path=path, answers=answers)


def _labelled(tokenizer: Tokenizer, record: Record, *, path: str, answers: bool) -> Example:
    (text,) = record.texts
    tokens = join_sentences(tokenizer.sentences(text))
    label = None if record.label is None else record.label.strip()
    if not tokens.words or (answers and not label):
        raise InputError(
            f"{path}: line {record.line} has no {'label' if tokens.words else 'text'}; both are wanted, as in "
            "`label<TAB>text`"
        )
    return raw_example(tokens, record.line, text, path=path, answer=label)

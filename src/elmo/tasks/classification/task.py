"""The classification task: sentiment trees, or lines of `label<TAB>text`; accuracy."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from elmo.errors import ConfigError, InputError
from elmo.tasks.classification.model import BiattentiveClassifier, BiattentiveConfig
from elmo.tasks.classification.trees import Phrase, read_tree
from elmo.tasks.embedding import TaskEmbedding
from elmo.tasks.examples import Example
from elmo.tasks.task import Scores, Task
from elmo.text.files import read_lines
from elmo.text.tokenizer import Tokenizer


@dataclass(frozen=True, kw_only=True)
class ClassificationConfig:
    """A classification task. `subphrases`: whether the phrases inside of trees are learned too.

    `sentence_repeats`: how often an epoch has each whole sentence then; phrases outnumber them twenty to one, and have
    other labels (half of them neutral). `tokenizer`: how the text of `label<TAB>text`, of one or more sentences,
    becomes tokens; None: they stand between white space.
    """

    kind: Literal["classification"] = "classification"
    subphrases: bool = True
    sentence_repeats: int = 4
    tokenizer: Literal["treebank", "unicode"] | None = "treebank"
    model: BiattentiveConfig = field(default_factory=BiattentiveConfig)

    def __post_init__(self) -> None:
        if self.sentence_repeats < 1:
            raise ConfigError(f"sentence_repeats is {self.sentence_repeats}; it must be at least 1")


@dataclass(frozen=True)
class TreeExample(Example):
    """A sentence with all the phrases in it."""

    phrases: tuple[Phrase, ...] = ()


class Classification(Task):
    """One label a text. Answers are labels."""

    metric = "accuracy"

    def __init__(self, config: ClassificationConfig) -> None:
        self.config = config

    def read(self, path: str) -> list[Example]:
        """Trees where the first line opens with a bracket, else `label<TAB>text`."""
        examples = list(self._read(path, answers=True))
        if not examples:
            raise InputError(f"{path}: has no examples")
        return examples

    def read_questions(self, path: str, tokenizer: Tokenizer | None) -> list[Example]:
        """The same files, or lines of text alone."""
        if tokenizer is None:
            return list(self._read(path, answers=False))
        own = self._tokenizer()  # whatever the biLM's is: the one of the training text
        lines = ((number, _all_words(line, own)) for number, line in read_lines(path))
        return [Example((words,), None, f"{path}: line {number}") for number, words in lines]

    def training_examples(self, examples: Sequence[Example]) -> list[Example]:
        """Sentences, and the phrases of trees if so configured; the same phrase with the same label once."""
        if not self.config.subphrases or not any(isinstance(example, TreeExample) for example in examples):
            return list(examples)
        found: dict[tuple[tuple[str, ...], Any], Example] = {}
        for example in examples:
            found.setdefault((example.texts[0], example.answer), example)
            for phrase in example.phrases if isinstance(example, TreeExample) else ():
                found.setdefault((phrase.words, phrase.label), Example((phrase.words,), phrase.label, example.place))
        return [*found.values(), *list(examples) * (self.config.sentence_repeats - 1)]

    def find_labels(self, examples: Sequence[Example]) -> list[str]:
        """All labels, sorted."""
        return sorted({example.answer for example in examples})

    def encode(self, example: Example, ids: Mapping[str, int]) -> list[int]:
        """The label's id."""
        return [ids[example.answer]]

    def decode(self, answer: Sequence[int], labels: Sequence[str]) -> str:
        """The label."""
        return labels[answer[0]]

    def build(self, embedding: TaskEmbedding, labels: Sequence[str]) -> BiattentiveClassifier:
        """A new network."""
        return BiattentiveClassifier(embedding, self.config.model, labels=len(labels))

    def score(self, examples: Sequence[Example], answers: Sequence[Any]) -> Scores:
        """The share of texts with the right label."""
        right = sum(example.answer == answer for example, answer in zip(examples, answers, strict=True))
        return {"accuracy": 100 * right / max(1, len(examples))}

    def write(self, examples: Sequence[Example], answers: Sequence[Any]) -> Iterator[str]:
        """`label<TAB>text`; an empty line for a text without tokens, so that lines stay side by side."""
        for example, label in zip(examples, answers, strict=True):
            yield "" if label is None else f"{label}\t{' '.join(example.texts[0])}"

    def _tokenizer(self) -> Tokenizer:
        rule = self.config.tokenizer or "whitespace"
        # Only the treebank rule cuts off a period by where the sentence ends.
        return Tokenizer(rule=rule, language="en" if rule == "treebank" else None)

    def _read(self, path: str, *, answers: bool) -> Iterator[Example]:
        trees: bool | None = None
        tokenizer = self._tokenizer()
        for number, line in read_lines(path):
            place = f"{path}: line {number}"
            if not line.strip():
                continue
            if trees is None:
                trees = line.lstrip().startswith("(") and "\t" not in line and line.rstrip().endswith(")")
            if trees:
                phrases = tuple(read_tree(line, place=place))
                yield TreeExample((phrases[0].words,), phrases[0].label, place, phrases)
                continue
            label, tab, text = line.partition("\t")
            if not tab and answers:
                raise InputError(f"{place} has no tab; `label<TAB>text` is wanted, or a tree in brackets")
            words = _all_words(text if tab else line, tokenizer)
            if not words or (answers and not label.strip()):
                raise InputError(f"{place} has no {'label' if words else 'text'}; `label<TAB>text` is wanted")
            yield Example((words,), label.strip() if tab else None, place)


def _all_words(text: str, tokenizer: Tokenizer) -> tuple[str, ...]:
    """The tokens of a text of one or more sentences."""
    return tuple(word for words in tokenizer.sentence_words(text) for word in words)

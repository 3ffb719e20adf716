"""The task of semantic roles: column files with gold predicates in, roles out; F1 by srl-eval.pl's rules."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from elmo.errors import InputError
from elmo.tasks.details import Details, label_scores, rates
from elmo.tasks.embedding.embedding import TaskEmbedding
from elmo.tasks.examples import Example
from elmo.tasks.htmlpage import Mark, MarkedText
from elmo.tasks.rawtext import in_lines, read_raw_sentences, told_tokens
from elmo.tasks.roles.bio import bio_ids, bio_spans
from elmo.tasks.roles.columns import (
    NONE,
    RoleColumns,
    RolesExample,
    given_predicates,
    read_role_questions,
    read_role_sentences,
    write_role_sentence,
)
from elmo.tasks.roles.model import Labelled, RoleLabeller, RolesModelConfig, finder_targets, no_labels
from elmo.tasks.roles.propositions import (
    CONTINUED,
    PREDICATE,
    Counts,
    Proposition,
    Roles,
    argument_counts,
    paired_roles,
)
from elmo.tasks.tagging.spans import Span
from elmo.tasks.task import Scores, Task
from elmo.text.tokenizer import Tokenizer

VERB_TAGS = "V"  # how the Penn tags of verbs begin, and UD's VERB
AUXILIARY_TAG = "AUX"
UNNAMED = "_"  # a predicate whose word is NONE


@dataclass(frozen=True, kw_only=True)
class RolesConfig:
    """The task of semantic roles; `columns` says where a file has what."""

    kind: Literal["roles"] = "roles"
    columns: RoleColumns = field(default_factory=RoleColumns)
    model: RolesModelConfig = field(default_factory=RolesModelConfig)

    def make(self) -> "SemanticRoles":
        """The task."""
        return SemanticRoles(self)


class SemanticRoles(Task):
    """An example is a sentence with all its predicates, an answer `Roles`. Learned is one predicate at a time."""

    metric = "f1"
    reads_records = False  # a sentence takes as many lines as it has tokens

    def __init__(self, config: RolesConfig) -> None:
        self.config = config

    def read(self, path: str) -> list[Example]:
        """The sentences of a column file."""
        examples: list[Example] = list(read_role_sentences(path, self.config.columns))
        if not examples:
            raise InputError(f"{path}: has no sentences")
        if not any(example.answer.propositions for example in examples):
            raise InputError(
                f"{path}: has no predicates; column {self.config.columns.predicate} of each token is {NONE!r}. Is it "
                "the right column? --set task.columns.predicate=N names another"
            )
        return examples

    def read_questions(self, path: str, tokenizer: Tokenizer | None) -> list[Example]:
        """A column file, or lines of raw text. Predicates are found where the file has no column for them."""
        if tokenizer is not None:
            return list(read_raw_sentences(path, tokenizer))
        return list(read_role_questions(path, self.config.columns))

    def training_examples(self, examples: Sequence[Example]) -> list[Example]:
        """An example for each predicate; one for a sentence without, to learn that it has none."""
        return [one for example in examples for one in _one_by_one(example)]

    def find_labels(self, examples: Sequence[Example]) -> list[str]:
        """All roles, sorted."""
        return sorted({role.label for e in examples for p in e.answer.propositions for role in p.roles})

    def encode(self, example: Example, ids: Mapping[str, int]) -> list[int]:
        """For each token, whether it is a predicate, and its label for the predicate of the example."""
        propositions: tuple[Proposition, ...] = example.answer.propositions
        T = len(example.tokens)
        labels = bio_ids(propositions[0].roles, T, dict(ids)) if propositions else no_labels(T)
        counted = not (isinstance(example, RolesExample) and example.repeated)
        finder = finder_targets(T, example.answer.predicates, counted=counted)
        return [n for pair in zip(finder, labels, strict=True) for n in pair]

    def decode(self, _example: Example, answer: Labelled, labels: Sequence[str]) -> Roles:
        """Propositions with their roles, and the predicates that the model finds by itself."""
        pairs = zip(answer.places, answer.labels, strict=True)
        return Roles(tuple(Proposition(p, bio_spans(ids, labels)) for p, ids in pairs), tuple(answer.found))

    def build(self, embedding: TaskEmbedding, labels: Sequence[str]) -> RoleLabeller:
        """A new model."""
        verb = labels.index(PREDICATE) if PREDICATE in labels else None
        return RoleLabeller(embedding, self.config.model, roles=len(labels), verb=verb)

    def score(self, examples: Sequence[Example], answers: Sequence[Any]) -> Scores:
        """Precision, recall and F1 of arguments of the gold predicates; F1 of verbs alone, and of predicates found."""
        pairs = _paired(examples, answers)
        precision, recall, f1 = _overall(argument_counts((p.roles, given) for _, p, given in pairs))
        scores = {"f1": f1, "precision": precision, "recall": recall}
        if any(isinstance(example, RolesExample) and example.tags for example in examples):
            verbs = argument_counts((p.roles, given) for example, p, given in pairs if _is_verb(example, p.place))
            scores["verbs f1"] = _overall(verbs)[2]
        wanted = [set(example.answer.predicates) for example in examples]
        found = [set(answer.predicates) for answer in answers]
        right = sum(len(w & f) for w, f in zip(wanted, found, strict=True))
        scores["predicates f1"] = rates(right, sum(map(len, found)), sum(map(len, wanted)))[2]
        return scores

    def write(self, examples: Sequence[Example], answers: Sequence[Any]) -> Iterator[str]:
        """Column files as they are read, a blank line after each sentence and for each line of text without tokens."""
        for example, roles in zip(examples, answers, strict=True):
            if roles is None:
                yield ""
                continue
            raw = example.as_written()
            words = [raw.text[s : s + len(w)] for s, w in zip(raw.starts, example.tokens, strict=True)]
            known = example if isinstance(example, RolesExample) else None
            places = {proposition.place for proposition in roles.propositions}
            named = [word.lower() if word != NONE else UNNAMED for word in words]
            senses = [named[n] if n in places else NONE for n in range(len(words))]
            senses = list(known.senses) if known and known.senses else senses
            tags = known.tags if known and known.tags else (NONE,) * len(words)
            yield from write_role_sentence(words, tags, senses, roles.propositions)

    def report(
        self, examples: Sequence[Example], beliefs: Sequence[Labelled | None], labels: Sequence[str]
    ) -> Iterator[dict[str, Any]]:
        """One object a line of raw text (or sentence of a column file) with the predicates of its sentences."""
        for values, pairs in in_lines(examples, beliefs):
            yield {**values, "sentences": [_told(e, belief, labels) for e, belief in pairs if belief is not None]}

    def marked_texts(self, reports: Iterable[Mapping[str, Any]]) -> Iterator[MarkedText]:
        """The sentence of each predicate with its roles."""
        for values in reports:
            for sentence in values["sentences"]:
                first = sentence["start"]
                text = values["text"][first : sentence["end"]]
                for predicate in sentence["predicates"]:
                    marks = (
                        Mark(
                            role["start"] - first,
                            role["end"] - first,
                            role["label"],
                            role["label"].removeprefix(CONTINUED),
                            f"{role['label']} {role['probability']:.2f}",
                        )
                        for role in predicate["roles"]
                    )
                    yield MarkedText(text, tuple(marks), heading=predicate["text"])
                if not sentence["predicates"]:
                    yield MarkedText(text, ())

    def details(self, examples: Sequence[Example], answers: Sequence[Any]) -> Details:
        """Of each role."""
        pairs = _paired(examples, answers)
        return Details(labels=label_scores(argument_counts((p.roles, given) for _, p, given in pairs)))


def _one_by_one(example: Example) -> Iterator[Example]:
    assert isinstance(example, RolesExample)
    roles: Roles = example.answer
    if not roles.propositions:
        yield example
    for n, proposition in enumerate(roles.propositions):
        answer = Roles((proposition,), roles.predicates)
        yield replace(example, answer=answer, given=given_predicates([proposition.place]), repeated=n > 0)


def _paired(examples: Sequence[Example], answers: Sequence[Roles]) -> list[tuple[Example, Proposition, Any]]:
    return [
        (example, wanted, given)
        for example, answer in zip(examples, answers, strict=True)
        for wanted, given in paired_roles(example.answer, answer)
    ]


def _overall(counts: Counts) -> tuple[float, float, float]:
    return rates(*(sum(count[n] for count in counts.values()) for n in range(3)))


def _is_verb(example: Example, place: int) -> bool:
    tags = example.tags if isinstance(example, RolesExample) else ()
    return bool(tags) and (tags[place].startswith(VERB_TAGS) or tags[place] == AUXILIARY_TAG)


def _told(example: Example, belief: Labelled, labels: Sequence[str]) -> dict[str, Any]:
    raw = example.as_written()
    tokens = told_tokens(example)

    def place(start: int, end: int) -> dict[str, Any]:
        first, last = tokens[start]["start"], tokens[end - 1]["end"]
        return {"text": raw.text[first:last], "start": first, "end": last}

    predicates = []
    columns = (belief.places, belief.labels, belief.predicate_probabilities, belief.span_probabilities)
    for n, ids, probability, sure in zip(*columns, strict=True):
        spans: tuple[Span, ...] = bio_spans(ids, labels)
        roles = [
            {**place(role.start, role.end), "label": role.label, "probability": _rounded(probability)}
            for role, probability in zip(spans, sure, strict=True)
        ]
        predicates.append({**place(n, n + 1), "probability": _rounded(probability), "roles": roles})
    return {"start": tokens[0]["start"], "end": tokens[-1]["end"], "tokens": tokens, "predicates": predicates}


def _rounded(probability: float) -> float:
    return round(min(1.0, probability), 6)

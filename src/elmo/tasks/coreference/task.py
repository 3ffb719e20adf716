"""The task of coreference: documents in columns or raw text in, chains of mentions out; MUC, B3, CEAF_phi4."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from elmo.errors import InputError
from elmo.tasks.coreference.chains import Agreement, Chain, count_chains, mean_f1, require_scipy
from elmo.tasks.coreference.columns import Document, DocumentColumns, read_documents, write_document
from elmo.tasks.coreference.model import CoreferenceModelConfig, Coreferences, FoundChains
from elmo.tasks.details import Details, LabelScore
from elmo.tasks.embedding.embedding import TaskEmbedding
from elmo.tasks.examples import Example
from elmo.tasks.htmlpage import Mark, MarkedText
from elmo.tasks.rawtext import read_raw_document, told_tokens
from elmo.tasks.task import Scores, Task
from elmo.text.tokenizer import Tokenizer


@dataclass(frozen=True, kw_only=True)
class CoreferenceConfig:
    """The task of coreference; `columns` says where a file has what.

    `singletons`: chains of one mention are learned, answered and scored. Without, they are left out of what is read.
    """

    kind: Literal["coreference"] = "coreference"
    singletons: bool = False
    columns: DocumentColumns = field(default_factory=DocumentColumns)
    model: CoreferenceModelConfig = field(default_factory=CoreferenceModelConfig)

    def make(self) -> "Coreference":
        """The task."""
        return Coreference(self)


class Coreference(Task):
    """An example is a document, an answer a tuple of chains, each a tuple of mentions (start, end) in tokens."""

    metric = "f1"

    def __init__(self, config: CoreferenceConfig) -> None:
        self.config = config

    def read(self, path: str) -> list[Example]:
        """The documents of a file; those without a mention too, if others have some."""
        require_scipy()  # what has answers is scored: better said now than after an epoch
        documents = [self._scored(d) for d in read_documents(path, self.config.columns, answers=True)]
        if not documents:
            raise InputError(f"{path}: has no documents; `#begin document (NAME); part 000` begins one")
        if not any(document.answer for document in documents):
            kind = "mentions" if self.config.singletons else "chains of two mentions or more"
            raise InputError(f"{path}: has no {kind} in the last column of its {len(documents)} document(s)")
        return list(documents)

    def read_questions(self, path: str, tokenizer: Tokenizer | None) -> list[Example]:
        """The documents of a file, or raw text: all of it is one document."""
        if tokenizer is not None:
            return [read_raw_document(path, tokenizer)]
        return list(read_documents(path, self.config.columns, answers=False))

    def encode(self, example: Example, ids: Mapping[str, int]) -> list[int]:  # noqa: ARG002 - there are no labels
        """First token, last token and the number of the chain, from 1, of each mention."""
        last_chain = {mention: n for n, mentions in enumerate(example.answer, start=1) for mention in mentions}
        return [number for (start, end), n in last_chain.items() for number in (start, end - 1, n)]

    def decode(self, _example: Example, answer: FoundChains, labels: Sequence[str]) -> tuple[Chain, ...]:  # noqa: ARG002
        """Chains by their first mentions."""
        return tuple(answer.chains)

    def build(self, embedding: TaskEmbedding, labels: Sequence[str]) -> Coreferences:  # noqa: ARG002
        """A new model."""
        return Coreferences(embedding, self.config.model, singletons=self.config.singletons)

    def score(self, examples: Sequence[Example], answers: Sequence[Any]) -> Scores:
        """The mean F1 of the three measures, each of them, and the F1 of mentions."""
        counts = self._counts(examples, answers)
        return {"f1": mean_f1(counts), **{f"{name} f1": count.f1 for name, count in counts.items()}}

    def write(self, examples: Sequence[Example], answers: Sequence[Any]) -> Iterator[str]:
        """Documents in columns as they are read; of raw text a line for each chain, its mentions parted by tabs."""
        for example, chains in zip(examples, answers, strict=True):
            words = [token["text"] for token in told_tokens(example)]
            if isinstance(example, Document):
                yield from write_document(example, words, chains or ())
                continue
            for chain in chains or ():
                yield "\t".join(" ".join(_place(example, *mention)["text"].split()) for mention in chain)

    def report(
        self, examples: Sequence[Example], beliefs: Sequence[FoundChains | None], labels: Sequence[str]  # noqa: ARG002
    ) -> Iterator[dict[str, Any]]:  # fmt: skip
        """One object a document with its tokens and chains."""
        for example, belief in zip(examples, beliefs, strict=True):
            found = FoundChains([], {}) if belief is None else belief
            chains = [
                [
                    {**_place(example, *mention), "probability": _rounded(found.probabilities.get(mention))}
                    for mention in chain
                ]
                for chain in found.chains
            ]
            yield {
                "document": example.name if isinstance(example, Document) else example.place,
                "text": example.as_written().text,
                "tokens": told_tokens(example),
                "chains": chains,
            }

    def marked_texts(self, reports: Iterable[Mapping[str, Any]]) -> Iterator[MarkedText]:
        """Each document with its mentions, a colour a chain."""
        for values in reports:
            marks = (
                Mark(m["start"], m["end"], str(n), str(n), f"chain {n}: {' '.join(chain[0]['text'].split())}")
                for n, chain in enumerate(values["chains"], start=1)
                for m in chain
            )
            yield MarkedText(values["text"], tuple(marks), heading=values["document"])

    def details(self, examples: Sequence[Example], answers: Sequence[Any]) -> Details:
        """Precision and recall of each measure; what it counts are links, mentions, chains and mentions again."""
        return Details(labels={name: _score(count) for name, count in self._counts(examples, answers).items()})

    def _counts(self, examples: Sequence[Example], answers: Sequence[Any]) -> dict[str, Agreement]:
        return count_chains((e.answer, a or ()) for e, a in zip(examples, answers, strict=True))

    def _scored(self, document: Document) -> Document:
        if self.config.singletons:
            return document
        return replace(document, answer=tuple(chain for chain in document.answer if len(chain) > 1))


def _place(example: Example, start: int, end: int) -> dict[str, Any]:
    raw = example.as_written()
    first, last = raw.starts[start], raw.starts[end - 1] + len(example.tokens[end - 1])
    return {"text": raw.text[first:last], "start": first, "end": last}


def _score(count: Agreement) -> LabelScore:
    return LabelScore(
        precision=count.precision, recall=count.recall, f1=count.f1, wanted=count.wanted, given=count.given
    )


def _rounded(probability: float | None) -> float | None:
    return None if probability is None else round(min(1.0, probability), 6)

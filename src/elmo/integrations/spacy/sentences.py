"""What of a text the biLM is shown: its sentences, without white space."""

from collections.abc import Sequence
from typing import NamedTuple

from spacy.tokens import Doc


class Sentences(NamedTuple):
    """The sentences of some texts, and where their tokens stand."""

    words: list[list[str]]  # of all texts, sentence by sentence
    places: list[list[list[int]]]  # the numbers of the tokens in their text: text, sentence, token


def sentences_of(doc: Doc) -> list[list[int]]:
    """The numbers of the tokens of each sentence, white space left out; a text without sentences is one."""
    spans = doc.sents if doc.has_annotation("SENT_START") else [doc[:]]
    sentences = [[token.i for token in span if not token.is_space] for span in spans]
    return [sentence for sentence in sentences if sentence]


def read_sentences(docs: Sequence[Doc]) -> Sentences:
    """The sentences of all texts, in their order."""
    places = [sentences_of(doc) for doc in docs]
    words = [[doc[i].text for i in s] for doc, of_doc in zip(docs, places, strict=True) for s in of_doc]
    return Sentences(words, places)

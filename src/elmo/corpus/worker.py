"""What a worker does with a block of text: tokenize it, number its words, keep the numbers on disk."""

from collections.abc import Iterable
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from elmo.corpus.block import BlockFacts, SentencesOf, number_words, write_block
from elmo.text.tokenizer import Tokenizer


def handle(task: dict[str, Any], text: bytes) -> dict[str, Any]:
    """Make the block of `text` and write it to the path of the task; the answer is its facts.

    The text is that of several segments, whose sizes the task gives.
    """
    sentences_of = split_line if task["tokenized"] else raw_sentences(Tokenizer.from_dict(task["tokenizer"]))
    edges = [0, *accumulate(task["sizes"])]
    texts = [text[start:end].decode("utf-8") for start, end in pairwise(edges)]
    block, segments = number_words(texts, sentences_of, documents=task["documents"])
    facts = BlockFacts(task["sha256"], len(block.counts), segments)
    write_block(Path(task["path"]), block, facts)
    return {"facts": facts.to_json()}


def split_line(line: str) -> Iterable[list[str]]:
    """The sentence that a line of tokenized text is, if it has words."""
    words = line.split()
    return (words,) if words else ()


def raw_sentences(tokenizer: Tokenizer) -> SentencesOf:
    """How a line of raw text becomes sentences."""

    def sentences(line: str) -> Iterable[list[str]]:
        return [words for words in tokenizer.sentence_words(line) if words]

    return sentences

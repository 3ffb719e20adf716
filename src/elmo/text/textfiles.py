"""Text files as streams of tokenized sentences, and the words that they hold."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from elmo.text.lines import expand_paths, read_lines
from elmo.text.tokenizer import Tokenizer

Paths = Iterable[str | os.PathLike[str]]


class PlacedSentence(NamedTuple):
    """The words of a sentence, with the file and the line (from 1) that it stands in."""

    file: str
    line: int
    words: list[str]


def placed_sentences(paths: Paths, tokenizer: Tokenizer, *, tokenized: bool) -> Iterator[PlacedSentence]:
    """The sentences of some files: `tokenized` lines of tokens, or raw lines split into sentences by the tokenizer."""
    for path in expand_paths(paths):
        for number, line in read_lines(path):
            for words in [line.split()] if tokenized else tokenizer.sentence_words(line):
                if words:
                    yield PlacedSentence(path, number, words)


def sentences_of_files(paths: Paths, tokenizer: Tokenizer, *, tokenized: bool) -> Iterator[list[str]]:
    """The same sentences, their words alone."""
    return (sentence.words for sentence in placed_sentences(paths, tokenizer, tokenized=tokenized))


def count_words_of_files(paths: Paths, tokenizer: Tokenizer) -> Counter[str]:
    """How often each token occurs in some files."""
    counts: Counter[str] = Counter()
    for words in sentences_of_files(paths, tokenizer, tokenized=False):
        counts.update(words)
    return counts

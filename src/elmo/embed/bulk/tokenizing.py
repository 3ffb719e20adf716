"""Lines to numbered sentences, by this process or by several others, in the order of the input.

Python tokenizes on one core at a time. Where a GPU waits for text, other processes tokenize; they send back each
distinct word of a chunk once, and numbers for its tokens.
"""

import base64
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.corpus.workers import Answer, ChildProcesses, Request
from elmo.embed.bulk.writers.row import Line
from elmo.embed.numbered import Integers, NumberedSentences, number_sentences, running_total
from elmo.text.tokenizer import Tokenizer

CHARACTERS_IN_CHUNK = 1 << 18
LINES_IN_CHUNK = 4096
MOST_WORKERS = 8
CHUNKS_AHEAD = 2  # of each worker


@dataclass(frozen=True, kw_only=True)
class TokenizedLines:
    """The sentences of some lines. A line has at least one sentence, which is empty where it has no tokens."""

    counts: Integers  # [lines], sentences
    sentences: NumberedSentences

    @cached_property
    def first_sentences(self) -> Integers:
        """The first sentence of each line, and at last their number: [lines + 1]."""
        return running_total(self.counts)

    @cached_property
    def first_tokens(self) -> Integers:
        """The first token of each line, and at last their number: [lines + 1]."""
        return self.sentences.starts[self.first_sentences]


def tokenize_lines(texts: Sequence[str], tokenizer: Tokenizer) -> TokenizedLines:
    """The sentences of each line, those without tokens left out."""
    found = [[words for words in tokenizer.sentence_words(text) if words] or [[]] for text in texts]
    counts = np.fromiter(map(len, found), dtype=np.int64, count=len(found))
    return TokenizedLines(counts=counts, sentences=number_sentences([words for line in found for words in line]))


def tokenized(
    lines: Iterable[Line], tokenizer: Tokenizer, *, workers: int = 0
) -> Iterator[tuple[list[Line], TokenizedLines]]:
    """Chunks of lines with their sentences; `workers` are other processes, none for this one."""
    if workers < 1:
        for chunk in _chunks(lines):
            yield chunk, tokenize_lines([line.text for line in chunk], tokenizer)
        return
    request = {"tokenizer": tokenizer.to_dict()}
    with closing(ChildProcesses(workers, handler=f"{__name__}:{answer_chunk.__name__}")) as processes:
        waiting: deque[tuple[list[Line], Future[Answer]]] = deque()
        for chunk in _chunks(lines):
            text = "\n".join(line.text for line in chunk).encode("utf-8", "surrogatepass")
            waiting.append((chunk, processes.submit(request, text)))
            if len(waiting) > CHUNKS_AHEAD * workers:
                chunk, answer = waiting.popleft()
                yield chunk, _from_answer(answer.result())
        while waiting:
            chunk, answer = waiting.popleft()
            yield chunk, _from_answer(answer.result())


def answer_chunk(request: Request, text: bytes) -> Answer:
    """What a worker does with a chunk."""
    texts = text.decode("utf-8", "surrogatepass").split("\n")
    found = tokenize_lines(texts, Tokenizer.from_dict(request["tokenizer"]))
    sentences = found.sentences
    return {
        "words": sentences.words,
        "counts": _dump(found.counts),
        "lengths": _dump(sentences.lengths),
        "ids": _dump(sentences.ids),
    }


def _from_answer(answer: Answer) -> TokenizedLines:
    sentences = NumberedSentences(
        words=answer["words"],
        ids=_numbers(answer["ids"]).astype(np.int32),
        lengths=_numbers(answer["lengths"]).astype(np.int64),
    )
    return TokenizedLines(counts=_numbers(answer["counts"]).astype(np.int64), sentences=sentences)


def _dump(numbers: npt.NDArray[Any]) -> list[str]:
    """Numbers from 0 on, in as few bytes as they need."""
    dtype = np.min_scalar_type(int(numbers.max(initial=0)))
    return [dtype.str, base64.b64encode(numbers.astype(dtype).tobytes()).decode("ascii")]


def _numbers(dumped: list[str]) -> npt.NDArray[Any]:
    dtype, data = dumped
    return np.frombuffer(base64.b64decode(data), dtype)


def _chunks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    chunk: list[Line] = []
    size = 0
    for line in lines:
        chunk.append(line)
        size += len(line.text)
        if len(chunk) == LINES_IN_CHUNK or size >= CHARACTERS_IN_CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk

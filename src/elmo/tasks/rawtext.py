"""Raw text as questions to a task: its sentences, each with its place in the line as it was written; and answers to it,
line by line."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from elmo.tasks.examples import Example, Raw, Text
from elmo.text.lines import read_lines
from elmo.text.tokenizer import Tokenizer
from elmo.text.tokens import Tokens


def read_raw_sentences(path: str, tokenizer: Tokenizer) -> Iterator[Example]:
    """The sentences of each line of a file; one example without tokens for a line that has none."""
    for number, line in read_lines(path):
        for tokens in tokenizer.sentences(line) or [Tokens([], [], [])]:
            yield raw_example(tokens, number, line, path=path)


def raw_example(tokens: Tokens, number: int, text: str, *, path: str, answer: str | None = None) -> Example:
    """Tokens of a text that stands in a line. A biLM reads them in one go, as it did in all models trained before."""
    place = f"{path}: line {number}"
    return Example((Text(tuple(tokens.words)),), answer, place, Raw(number, text, tuple(tokens.starts)))


def read_raw_document(path: str, tokenizer: Tokenizer) -> Example:
    """All of a file as one text of many sentences; no sentence goes over the end of a line."""
    words: list[tuple[str, ...]] = []
    starts: list[int] = []
    lines: list[str] = []
    before = 0  # characters
    for _, line in read_lines(path):
        for tokens in tokenizer.sentences(line):
            words.append(tuple(tokens.words))
            starts += [before + start for start in tokens.starts]
        lines.append(line)
        before += len(line) + 1
    return Example((Text.of_sentences(words),), None, path, Raw(1, "\n".join(lines), tuple(starts)))


def in_lines(
    examples: Sequence[Example], beliefs: Sequence[Any]
) -> Iterator[tuple[dict[str, Any], list[tuple[Example, Any]]]]:
    """Examples with what is believed of them, those of one line together, and number and text of the line for JSON."""
    numbered = enumerate(zip(examples, beliefs, strict=True))
    for _, group in groupby(numbered, key=lambda pair: _line_of(pair[1][0], other=-1 - pair[0])):
        pairs = [pair for _, pair in group]
        first = pairs[0][0]
        yield {"line": None if first.raw is None else first.raw.line, "text": first.as_written().text}, pairs


def told_tokens(example: Example) -> list[dict[str, Any]]:
    """The tokens of an example for JSON, spelled as they are written: a token may have another apostrophe."""
    raw = example.as_written()
    ends = (start + len(word) for start, word in zip(raw.starts, example.tokens, strict=True))
    return [
        {"text": raw.text[start:end], "start": start, "end": end} for start, end in zip(raw.starts, ends, strict=True)
    ]


def _line_of(example: Example, *, other: int) -> int:
    return other if example.raw is None else example.raw.line

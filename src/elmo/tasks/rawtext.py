"""Raw text as questions to a task: its sentences, each with its place in the line as it was written."""

from collections.abc import Iterator

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

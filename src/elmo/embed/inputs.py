"""What a caller gives to `encode` (raw text, texts, token lists) as sentences of tokens."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from elmo.errors import InputError
from elmo.text.tokenizer import Tokenizer
from elmo.text.tokens import Tokens, join_sentences

BYTES = (bytes, bytearray, memoryview)  # sequences of numbers, which are no tokens


@dataclass(frozen=True)
class GivenText:
    """One entry of the input: the pieces that are embedded one by one, and its tokens with their places in the text."""

    pieces: list[list[str]]  # its sentences; an empty one where it has no tokens
    tokens: Tokens | list[str]  # given tokens have no places


def read_texts(
    sentences: str | Iterable[str] | Iterable[Sequence[str]], tokenizer: Tokenizer, *, split: bool
) -> list[GivenText]:
    """Tell the three kinds of input apart, and refuse anything else with its place.

    `split`: a raw text may have several sentences; otherwise it is one. Token lists are one sentence each.
    """
    if isinstance(sentences, str):
        return [_from_text(sentences, tokenizer, split=split)]
    if isinstance(sentences, BYTES) or not isinstance(sentences, Iterable):
        raise InputError(f"sentences are {_kind(sentences)}; a text, a list of texts or of token lists is wanted")
    entries = list(sentences)
    raw = bool(entries) and isinstance(entries[0], str)
    result = []
    for n, entry in enumerate(entries):
        if isinstance(entry, str) != raw:
            raise InputError(
                f"sentence {n} is {_kind(entry)}, but sentence 0 is {_kind(entries[0])}; "
                "give raw texts or token lists, not both"
            )
        result.append(_from_text(entry, tokenizer, split=split) if isinstance(entry, str) else _from_tokens(n, entry))
    return result


def check_tokens(sentences: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """Sentences that must be tokens already; raw text would be taken letter by letter."""
    if isinstance(sentences, (str, *BYTES)) or not isinstance(sentences, Iterable):
        raise InputError(f"sentences are {_kind(sentences)}; a list of token lists is wanted")
    for n, sentence in enumerate(sentences):
        if isinstance(sentence, str):
            raise InputError(
                f"sentence {n} is {_kind(sentence)}; a list of tokens is wanted "
                "(`model.tokenizer.tokenize(text).words` makes one)"
            )
        _from_tokens(n, sentence)
    return sentences


def _from_text(text: str, tokenizer: Tokenizer, *, split: bool) -> GivenText:
    if not split:
        tokens = tokenizer.tokenize(text)
        return GivenText([tokens.words], tokens)
    sentences = [sentence for sentence in tokenizer.sentences(text) if sentence.words]
    return GivenText([sentence.words for sentence in sentences] or [[]], join_sentences(sentences))


def sentence_starts(pieces: Iterable[Sequence[str]]) -> list[int]:
    """The number of the first token of each sentence, those without tokens left out."""
    pieces = [piece for piece in pieces if piece]
    return list(accumulate(map(len, pieces[:-1]), initial=0)) if pieces else []


def _from_tokens(n: int, entry: object) -> GivenText:
    if isinstance(entry, BYTES) or not isinstance(entry, Sequence):
        raise InputError(f"sentence {n} is {_kind(entry)}; a string or a list of tokens is wanted")
    words = list(entry)
    for k, word in enumerate(words):
        if not isinstance(word, str):
            raise InputError(f"token {k} of sentence {n} is {_kind(word)}; a string is wanted")
    return GivenText([words], words)


def _kind(value: object) -> str:
    if isinstance(value, BYTES):
        return f"{type(value).__name__} ({bytes(value[:40])!r}), not text: decode it first"
    return f"{type(value).__name__} ({str(value)[:40]!r})"

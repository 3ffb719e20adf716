"""Lines to sentences, here and in other processes; parts are the same however the lines were cut into chunks."""

import numpy as np
import pytest

import elmo.embed.bulk.tokenizing as tokenizing
from elmo.embed.bulk.options import BulkOptions
from elmo.embed.bulk.parts import PartSize, parts_of
from elmo.embed.bulk.tokenizing import TokenizedLines, tokenized
from elmo.embed.bulk.writers.row import Line
from elmo.embed.embedder import Embedder
from elmo.errors import ElmoError
from elmo.text.tokenizer import Tokenizer

TEXTS = [
    "The bank is closed. We went home.",
    "",
    "naïve 漢字 😀 \ud800",
    "Yes",
    "  ",
    *[f"Word{n} and so on." for n in range(20)],
]
LINES = [Line(n, text, None, n) for n, text in enumerate(TEXTS)]


def sentences_of(lines: list[Line], found: TokenizedLines) -> list[list[list[str]]]:
    borders = found.first_sentences.tolist()
    return [
        [found.sentences.words_of(n) for n in range(borders[line], borders[line + 1])] for line in range(len(lines))
    ]


@pytest.mark.parametrize("workers", [0, 2])
def test_every_line_has_its_sentences_in_order(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizing, "LINES_IN_CHUNK", 4)
    tokenizer = Tokenizer()
    chunks = list(tokenized(LINES, tokenizer, workers=workers))
    assert [len(lines) for lines, _ in chunks] == [4] * 6 + [1]
    assert [line for lines, _ in chunks for line in lines] == LINES
    wanted = [[words for words in tokenizer.sentence_words(text) if words] or [[]] for text in TEXTS]
    assert [pieces for chunk in chunks for pieces in sentences_of(*chunk)] == wanted


def test_a_worker_that_fails_is_heard_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tokenizer, "to_dict", lambda _: {"rule": "none"})
    with pytest.raises(ElmoError, match="tokenizer rule is 'none'"):
        list(tokenized(LINES, Tokenizer(), workers=1))


@pytest.mark.parametrize("size", [PartSize(3, 1000), PartSize(1000, 7), PartSize(5, 9), PartSize(1000, 1000)])
def test_parts_do_not_depend_on_chunks(embedder: Embedder, size: PartSize, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for lines_in_chunk in (2, 5, 1000):
        monkeypatch.setattr(tokenizing, "LINES_IN_CHUNK", lines_in_chunk)
        parts = list(parts_of(embedder, LINES, BulkOptions(), size=size))
        found.append([(lines, sentences_of(lines, tokens)) for lines, tokens in parts])
    assert found[0] == found[1] == found[2]
    assert [line for lines, _ in found[0] for line in lines] == LINES
    for lines, pieces in found[0][:-1]:
        counts = [sum(map(len, sentences)) for sentences in pieces]
        full = sum(counts) >= size.tokens
        assert len(lines) == size.lines or (full and sum(counts[:-1]) < size.tokens)


def test_words_of_a_part_are_distinct_and_all_used(embedder: Embedder) -> None:
    for _, found in parts_of(embedder, LINES, BulkOptions(), size=PartSize(2, 1000)):
        assert len(set(found.sentences.words)) == len(found.sentences.words)
        assert np.unique(found.sentences.ids).tolist() == list(range(len(found.sentences.words)))

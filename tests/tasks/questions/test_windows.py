"""Long texts: sentences are never torn, windows overlap, and every token is the business of exactly one."""

import random
from itertools import pairwise

import pytest

from elmo.tasks.examples import Text
from elmo.tasks.questions.windows import cut_windows, read_long
from elmo.text.tokenizer import Tokenizer


@pytest.mark.parametrize("seed", range(20))
def test_windows_cover_the_text_and_own_each_token_once(seed: int) -> None:
    chance = random.Random(seed)
    most = chance.choice((5, 12, 40))
    text = Text.of_sentences([["x"] * chance.randint(1, most) for _ in range(chance.randint(2, 60))])
    windows = cut_windows(text, most=most)
    assert windows[0].tokens[0] == windows[0].own[0] == 0
    assert windows[-1].tokens[1] == windows[-1].own[1] == len(text)
    for window in windows:
        assert 0 < len(text.part(*window.sentences)) == window.tokens[1] - window.tokens[0] <= most
        assert window.tokens[0] <= window.own[0] <= window.own[1] <= window.tokens[1]
    for one, other in pairwise(windows):
        assert one.own[1] == other.own[0]
        assert one.tokens[0] < other.tokens[0] <= one.tokens[1] < other.tokens[1]


def test_windows_of_short_sentences_share_about_half() -> None:
    windows = cut_windows(Text.of_sentences([["x"] * 5] * 40), most=100)
    assert [window.tokens for window in windows] == [(0, 100), (50, 150), (100, 200)]
    assert [window.own for window in windows] == [(0, 75), (75, 125), (125, 200)]


def test_a_text_is_read_by_sentences_with_places_across_paragraphs() -> None:
    text = "A heading\n \nThe old bridge\nis long. It isn’t new.\n\nThe end"
    read, starts = read_long(text, Tokenizer(), longest=4)
    assert read.sentences == (
        ("A", "heading"),
        ("The", "old", "bridge", "is"),
        ("long", "."),
        ("It", "is", "n't", "new"),
        (".",),
        ("The", "end"),
    )
    for word, start in zip(read.tokens, starts, strict=True):
        assert text[start : start + len(word)].replace("’", "'") == word

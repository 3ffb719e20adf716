"""Which sentences a text has, whatever its language and white space."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo.text.sentences import split_lines, split_sentences

words = st.sampled_from(
    ["One", "two", "Mr", "3", "日本", "हि", ".", "?", "!", "。", "।", '"', ")", "é", "\0", "\ud800"]
)
spaces = st.sampled_from([" ", "  ", "\n", "\n\n", "\r\n\r\n", "\t", "\u00a0", "\u3000", "\u2028", "\x85", "\x1c"])


@given(st.lists(words | spaces, max_size=20).map("".join) | st.text(), st.sampled_from(["en", "de", "ja", "xx"]))
@settings(max_examples=300)
def test_spans_hold_all_but_white_space_and_have_none_at_their_ends(text: str, language: str) -> None:
    before = 0
    for start, end in split_sentences(text, language):
        assert not text[before:start].strip()
        assert text[start:end] == text[start:end].strip() != ""
        before = end
    assert not text[before:].strip()


def sentences(text: str, language: str = "en") -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, language)]


def test_a_blank_line_ends_a_sentence_and_a_line_end_does_not() -> None:
    text = " CHAPTER ONE \n \n It was a dark\nnight. He left\r\nalone\n\n\n"
    assert sentences(text) == ["CHAPTER ONE", "It was a dark\nnight.", "He left\r\nalone"]


@pytest.mark.parametrize("space", ["\t", "\n", "\u00a0", "\u2009", "\x1c", " \n "])
def test_all_white_space_is_alike(space: str) -> None:
    for language in ("en", "fr"):
        assert sentences(f"It rained.{space}We stayed.{space}", language) == ["It rained.", "We stayed."]


@pytest.mark.parametrize("text", ["", " ", "\n\n \n", "\u3000"])
def test_text_without_words_has_no_sentences(text: str) -> None:
    assert split_sentences(text, "en") == split_sentences(text, "de") == split_lines(text) == []


def test_a_region_does_not_change_the_language() -> None:
    text = "Mr. Smith left. He came back."
    assert sentences(text, "en-GB") == sentences(text, "EN") == sentences(text, "en")


def test_lines_are_split_at_line_feeds_alone() -> None:
    text = " One . Two . \r\n\n\u2028Three\u2028four \x85\n"
    assert [text[start:end] for start, end in split_lines(text)] == ["One . Two .", "Three\u2028four"]

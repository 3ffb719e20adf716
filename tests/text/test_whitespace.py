"""Tokenized text: its tokens are those of str.split, at their places."""

from hypothesis import given
from hypothesis import strategies as st

from elmo.text.whitespace import tokenize, words


@given(st.text(alphabet=st.sampled_from("ab \t\n\u00a0\u3000\x1c\x85\u2028")), st.integers(0, 9))
def test_tokens_are_those_of_str_split_at_their_places(text: str, shift: int) -> None:
    tokens = tokenize(text, shift=shift)
    assert tokens.words == words(text) == text.split()
    assert [text[start - shift : end - shift] for start, end in tokens.offsets] == tokens.words
    assert tokens.starts == sorted(set(tokens.starts))

"""Treebank tokens: every path against NLTK's own result on the whole string, and what users rely on by name."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.text.nltk_reference import same_but_for_quotes, treebank_tokens

from elmo.text import treebank
from elmo.text.apostrophes import straighten_english

# What NLTK's rules look at, in all neighbourhoods, and some that they do not.
ATOMS = """
    a b S s t m d n is it can not cannot gonna wanna gimme lemme gotta GONNA d'ye more'n 'tis 'twas
    n't N'T 's 'S 'll 're 've 'm 'd ' '' ''' " `` ` . . .. ... , : ; ? ! ( ) [ ] { } < > -- - — – « » “ ” ‘ ’ „
    $ # % & @ * 1 23 1,000 7:00 a,5 .5 U.S U.S. Mr. e.g. _ / \\ = é 日 ı ſ हि ० \0 \ud800 \u0301 x-y
""".split()  # noqa: SIM905
SPACES = [" ", " ", " ", "  ", "\t", "\n", "\u00a0", "\u3000", "\u2028", "\x85", "\x1c"]

pieces_of_text = st.lists(st.sampled_from(ATOMS) | st.sampled_from(SPACES), max_size=16).map("".join)


def assert_equals_nltk(text: str) -> None:
    tokens = treebank.tokenize(text)
    text = straighten_english(text)
    assert same_but_for_quotes(tokens.words, treebank_tokens(text)), (text, tokens.words, treebank_tokens(text))
    assert [text[start:end] for start, end in tokens.offsets] == tokens.words
    assert "".join(tokens.words) == "".join(text.split())


@given(pieces_of_text)
@example("it's'")
@example("it's'\tshe said")
@example('He left. "')
@example("He left. ''")
@example('"Go." ')
@example("Go.\t)")
@example("(Go.) ")
@example("Go.'' \u00a0")
@example(".")
@example(' .")')
@example("a,,b :: c:")
@example("wanna")
@example("cannot.")
@example("23lemme's'")
@example("GONNA's.")
@example("g\u0131mme")
@example("O\u0301'Brien met 'n\u0303andu' today.")  # combining marks are parts of words
@example("हिन्दी'क x")
@example("ⓐ'b")
@settings(max_examples=600)
def test_every_text_is_cut_as_nltk_cuts_it(text: str) -> None:
    assert_equals_nltk(text)


@given(st.text())
@settings(max_examples=150)
def test_any_unicode_is_cut_as_nltk_cuts_it(text: str) -> None:
    assert_equals_nltk(text)


@given(st.lists(st.sampled_from([*ATOMS, "word", "Word,", '"word', "word's."]), min_size=1, max_size=5).map("".join))
@settings(max_examples=300)
def test_plain_chunks_are_cut_as_nltk_cuts_them(chunk: str) -> None:
    for at_end in (False, True):
        plain = treebank._cut_plain(chunk, at_end=at_end)
        if plain and (not at_end or treebank.final_period(f"x {chunk}") >= 0):
            assert plain == treebank._cut_by_rules(chunk, at_end=at_end)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't, can't and won't.", "I do n't , ca n't and wo n't ."),
        ("They're gonna say it's theirs!", "They 're gon na say it 's theirs !"),
        ("It cost $5.50 (or 4,20 euros).", "It cost $ 5.50 ( or 4,20 euros ) ."),
        ("A well-known state-of-the-art model", "A well-known state-of-the-art model"),
        ('He said: "Stop!"', 'He said : " Stop ! "'),
        ("Mr. Smith of the U.S. Senate left.", "Mr. Smith of the U.S. Senate left ."),
        ("“Curly,” she wrote—twice.", "“ Curly , ” she wrote — twice ."),
        ("the dogs' tails", "the dogs ' tails"),
        ("Well... yes", "Well ... yes"),
        ("I don’t, can’t and won’t.", "I do n't , ca n't and wo n't ."),
        ("‘I don’t,’ he said.", "‘ I do n't , ’ he said ."),
        ("O\u0301'Brien met 'n\u0303andu' today.", "O\u0301'Brien met ' n\u0303andu ' today ."),
    ],
)
def test_english_is_cut_as_in_the_treebank(text: str, expected: str) -> None:
    assert treebank.tokenize(text).words == expected.split()


def test_only_the_last_period_is_split_off() -> None:
    assert treebank.tokenize("One. Two. Three.").words == ["One.", "Two.", "Three", "."]


@pytest.mark.parametrize("text", ["", " ", "\n\t\u00a0", "\x1c"])
def test_text_without_words_has_no_tokens(text: str) -> None:
    assert treebank.tokenize(text).words == []


def test_a_word_of_a_million_letters_is_one_token() -> None:
    word = "é" * 10**6
    assert treebank.tokenize(f"a {word} b").words == ["a", word, "b"]


def test_a_chunk_too_long_for_nltk_is_cut_into_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(treebank, "LONGEST_CHUNK", 10)
    text = "(abc)" * 7 + "."
    tokens = treebank.tokenize(text)
    assert tokens.words == ["(", "abc", ")"] * 7 + ["."]
    assert [text[start:end] for start, end in tokens.offsets] == tokens.words


def test_a_chunk_of_marks_longer_than_nltk_takes_is_tokenized() -> None:
    assert len(treebank.tokenize("!" * 150_000)) == 150_000


def test_the_white_space_is_all_that_str_split_knows() -> None:
    assert set(treebank._WHITE_SPACE) == {chr(c) for c in range(0x110000) if chr(c).isspace()}

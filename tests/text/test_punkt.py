"""English sentences: equal to NLTK's Punkt with the same lists on the whole text, and right where users look."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.text.nltk_reference import english_sentences, nltk_punkt

from elmo.text import punkt
from elmo.text.punkt_rules import contains_end

ATOMS = """
    word Word a A I Mr U.S e.g etc J J.R.R The he No no pp p 5 1990 3.5 II x-etc St é É 日 _
    . . . . ? ! ... … " ' ) ( “ ” ‘ ’ « » [ ] { } -- - , : ; * @
""".split()  # noqa: SIM905

texts = st.lists(st.sampled_from([*ATOMS, *[" "] * 12, "  "]), max_size=18).map("".join).map(str.strip).filter(bool)


@given(texts)
@example(". . . .")
@example("?@.3.5--.--. .")
@example('(Go.)" Then')
@example("He won. )")
@example("\u00b2. \u24d0. 3\u0301. ;")
@example("\u0663. No. \u00c9 the \u0301. a..b")
@settings(max_examples=600)
def test_sentences_are_those_of_nltk(text: str) -> None:
    assert punkt.split(text) == english_sentences(text)


@given(
    st.lists(st.sampled_from([*ATOMS, "fig", "p.m", "-2", "#", "&", "`"]), max_size=4).map("".join),
    st.sampled_from(["", " "]),
    st.lists(st.sampled_from([*ATOMS, "He", " "]), min_size=1, max_size=4).map("".join),
)
@settings(max_examples=600)
def test_each_decision_is_that_of_nltk(word: str, between: str, after: str) -> None:
    """The rules, also where the fast splitter would not ask them."""
    context = f"{word}.{between}{after}"
    assert contains_end(context) == bool(nltk_punkt().text_contains_sentbreak(context))


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in punkt.split(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Mr. Smith met Dr. Jones of Acme Inc. in St. Louis.",
        "J. R. R. Tolkien and J.R.R. Tolkien are one person.",
        "It is big, e.g. ten metres, i.e. huge.",
        "See no. 5, fig. 3 and pp. 10 to 12 of vol. 2 for more.",
        "She left at 5 p.m. on Jan. 3 for the U.S. Senate.",
        'The so-called "expert." was wrong.',
        '"Where are you going?" he asked.',
        "Oh! how nice it was.",
        "He ran (why?) and fell.",
        "Pi is 3.14 or so.",
        "Martin Luther King Jr. was there.",
        "wait... what",
    ],
)
def test_these_are_one_sentence(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    "expected",
    [
        ["It rained.", "We stayed."],
        ["He said no.", "Then he left."],
        ["It is from the U.S.", "The rest is not."],
        ["This is vitamin C.", "It is healthy."],
        ["What?", "Who?", "Me!"],
        ['He said "Go."', "Then he left."],
        ["“Go.”", "She went."],
        ["(This is one.)", "This is two."],
        ["Well . . .", "I never."],
        ["It was 1990.", "Nobody knew."],
        ["they never use capitals.", "not even here."],
    ],
)
def test_these_are_several_sentences(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


def test_a_word_of_a_million_letters_ends_a_sentence() -> None:
    word = "x" * 10**6
    assert sentences(f"{word}. Yes. {word}.") == [f"{word}.", "Yes.", f"{word}."]


@pytest.mark.parametrize("unit", [".", "!", ".)", '."', "a. ", "e.g. ", ". "])
def test_long_runs_take_linear_time(unit: str) -> None:
    text = (unit * 100_000).strip()
    assert punkt.split(text)[-1][1] == len(text)

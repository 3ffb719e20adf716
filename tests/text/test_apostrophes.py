"""Which characters are apostrophes, and which are quotation marks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.text.apostrophes import straighten_english, straighten_inner


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He didn’t.", "He didn't."),
        ("the bank’s", "the bank's"),
        ("the dogs’ tails", "the dogs' tails"),
        ("’Tis the ’90s, goin’ on 5 o’clock", "'Tis the '90s, goin' on 5 o'clock"),
        ("It isnʼt, it isn‘t", "It isn't, it isn't"),
        ("‘I can’t’", "‘I can't’"),
        ("‘The students’ books’ lay there", "‘The students’ books’ lay there"),
        ("The students’ ‘books’ lay there", "The students' ‘books’ lay there"),
        ("We left.’", "We left.’"),
        ("“Stop!’”", "“Stop!’”"),
        ("‘Yes’", "‘Yes’"),
    ],
)
def test_english_apostrophes_become_straight_and_quotation_marks_stay(text: str, expected: str) -> None:
    assert straighten_english(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("l’homme d’aujourd’hui", "l'homme d'aujourd'hui"),
        ("п’ять", "п'ять"),
        ("han sa ’hej’ igen", "han sa ’hej’ igen"),
        ("o‘zbek maʼno", "o‘zbek maʼno"),
        ("die Jungs’ Rad", "die Jungs’ Rad"),
    ],
)
def test_in_other_languages_only_the_curly_one_between_letters_is_an_apostrophe(text: str, expected: str) -> None:
    assert straighten_inner(text) == expected


@given(st.text() | st.text(alphabet="as1 .'’‘ʼ“”"))
def test_straight_text_has_the_length_of_the_curly_one_and_differs_in_apostrophes_alone(text: str) -> None:
    for straighten in (straighten_english, straighten_inner):
        straight = straighten(text)
        assert len(straight) == len(text)
        assert [a for a, b in zip(text, straight, strict=True) if a != b and b != "'"] == []

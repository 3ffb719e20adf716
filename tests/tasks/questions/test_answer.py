"""The scores of SQuAD v1.1 on cases made by hand from the official script's rules, its odd one included."""

import pytest

from elmo.tasks.questions.answer import best_scores, exact_match, normalize, overlap_f1


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The Old  Bridge.", "old bridge"),
        ("a well-known man", "wellknown man"),  # deleted, not replaced
        ("Anna's", "annas"),
        ("an “odd” – case", "“odd” – case"),  # only ASCII's punctuation goes
        ("Theatre and another", "theatre and another"),  # articles are whole words
        ("the-end", "theend"),  # punctuation goes first
        ("  \t THE\n", ""),
        ("$1,000", "1000"),
    ],
)
def test_answers_are_compared_without_articles_and_punctuation(text: str, normal: str) -> None:
    assert normalize(text) == normal


@pytest.mark.parametrize(
    ("given", "wanted", "exact", "f1"),
    [
        ("the bridge", "A bridge!", 1.0, 1.0),
        ("bridge over the river", "river bridge", 0.0, 0.8),  # 2 of 3 words, both of 2
        ("to be or not to be", "to be", 0.0, 0.5),  # words count as often as they stand there
        ("1894", "in 1894", 0.0, 2 / 3),
        ("old", "new", 0.0, 0.0),
        ("", "new", 0.0, 0.0),
        ("The", "a", 1.0, 0.0),  # both are empty: the official script has them equal, and in common they have nothing
    ],
)
def test_exact_match_and_f1(given: str, wanted: str, exact: float, f1: float) -> None:
    assert exact_match(given, wanted) == exact
    assert overlap_f1(given, wanted) == pytest.approx(f1)


def test_of_several_right_answers_each_score_takes_its_own_best() -> None:
    assert best_scores("The", ["the", "the bridge"]) == (1.0, 0.0)
    assert best_scores("old bridge", ["bridge", "the very old bridge"]) == (0.0, pytest.approx(0.8))

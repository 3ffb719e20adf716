"""Which texts are near to a target: probabilities that sum to one, and weights that find what a target is made of."""

from pathlib import Path

import numpy as np
import pytest
from recipes.english import nearness
from recipes.english.nearness import Bigrams, best_weights

TEXT = [["the", "dog", "ran", "."], ["the", "cat", "ran", "."], ["a", "dog", "sat"]]


def test_the_probabilities_of_all_words_sum_to_one() -> None:
    model = Bigrams(TEXT, vocabulary=50)
    known = list(model.words)
    for before in ("<s>", "the", "dog", "never seen"):
        unknown = (50 - len(known)) * model.probability(before, "never seen")
        assert sum(model.probability(before, word) for word in known) + unknown == pytest.approx(1, abs=1e-12)
    assert model.probability("the", "dog") > model.probability("the", "sat") > model.probability("the", "zebra") > 0


def test_the_weights_are_those_that_the_text_was_made_with() -> None:
    draw = np.random.default_rng(1)
    first, second = np.array([0.7, 0.2, 0.1]), np.array([0.1, 0.2, 0.7])
    words = draw.choice(3, size=20_000, p=0.8 * first + 0.2 * second)
    weights = best_weights(np.stack([first[words], second[words]]))
    assert weights.sum() == pytest.approx(1)
    assert weights[0] == pytest.approx(0.8, abs=0.03)


def test_the_nearest_text_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sea.txt").write_text("The ship sailed over the sea.\n\nThe sea was calm.\n" * 300, encoding="utf-8")
    (tmp_path / "law.txt").write_text("The court heard the case.\n\nThe law was clear.\n" * 300, encoding="utf-8")
    (tmp_path / "target.txt").write_text("The ship was over the calm sea .\n" * 20, encoding="utf-8")
    texts = [str(tmp_path / f"{name}.txt") for name in ("law", "sea")]
    nearness.main([*texts, "--targets", str(tmp_path / "target.txt"), "--words", "2000"])
    table, weights = capsys.readouterr().out.split("\n\n")
    law, sea = (float(row.split("|")[2]) for row in table.splitlines()[2:])
    assert sea < law
    assert weights.splitlines()[2].startswith("| sea | ")


def test_a_sample_is_from_all_over_a_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {n} of it\n" for n in range(10_000)), encoding="utf-8")
    lines = list(nearness.sample(tmp_path / "a.txt", 2000))
    numbers = [int(line.split()[1]) for line in lines]
    assert 500 <= len(lines) <= 600
    assert numbers == sorted(set(numbers))
    assert numbers[-1] > 9_700
    assert len(list(nearness.sample(tmp_path / "a.txt", 10**6))) > 9_900

"""Two sentences compared token by token: the cosines of `encode`, and pictures of them."""

from pathlib import Path

import numpy as np
import pytest

from elmo.analysis.heatmap import compare_sentences, draw_pair
from elmo.embed.embedder import Embedder
from elmo.errors import InputError

FIRST, SECOND = "I sat on the bank.", "The bank lends."


def test_each_pair_of_tokens_has_its_cosine_in_each_layer(embedder: Embedder) -> None:
    pair = compare_sentences(embedder, FIRST, SECOND)
    assert (pair.first, pair.second) == (["I", "sat", "on", "the", "bank", "."], ["The", "bank", "lends", "."])
    one, other = embedder.encode([pair.first, pair.second], layers="all")
    assert pair.cosines.shape == (embedder.layer_count, 6, 4)
    for layer, row, column in np.ndindex(pair.cosines.shape):
        a, b = one[layer, row], other[layer, column]
        assert pair.cosines[layer, row, column] == pytest.approx(
            a @ b / np.linalg.norm(a) / np.linalg.norm(b), abs=1e-5
        )
    assert pair.cosines[0, 4, 1] == pytest.approx(1.0)  # bank and bank, without context


def test_the_same_sentences_give_the_same_picture(embedder: Embedder, tmp_path: Path) -> None:
    pair = compare_sentences(embedder, FIRST, SECOND)
    for name in ("one.svg", "two.svg", "one.png", "one.pdf"):
        draw_pair(pair, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    draw_pair(compare_sentences(embedder, "a $x$ b_c " * 6, SECOND), tmp_path / "long.svg")  # which is no mathematics


def test_no_tokens_and_too_many_are_refused(embedder: Embedder, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'  ' has no tokens"):
        compare_sentences(embedder, FIRST, "  ")
    with pytest.raises(InputError, match="a sentence has 61 tokens; a picture shows at most 60"):
        draw_pair(compare_sentences(embedder, "word " * 61, SECOND), tmp_path / "pair.png")
    assert list(tmp_path.iterdir()) == []

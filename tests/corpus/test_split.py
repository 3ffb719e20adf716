"""Held-out sentences: about as many as asked for, whole documents where they fit, decided by the seed alone."""

import numpy as np
import pytest

from elmo.corpus.split import LEAST_TOKENS, choose_heldout, hashes


def lengths_of(count: int, *, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, 40, count).astype(np.uint32)


def choose(lengths, documents, *, fraction=0.01, max_tokens=250_000, seed=0) -> np.ndarray:
    return choose_heldout(
        lengths, np.asarray(documents, dtype=np.int64), fraction=fraction, max_tokens=max_tokens, seed=seed
    )


@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.5])
def test_the_fraction_is_met_from_below_by_whole_documents(fraction: float) -> None:
    lengths = lengths_of(50_000)
    documents = np.arange(0, len(lengths), 10)
    heldout = choose(lengths, documents, fraction=fraction, max_tokens=10**9)
    share = lengths[heldout].sum() / lengths.sum()
    assert fraction - 0.001 < share <= fraction
    assert (heldout.reshape(-1, 10).all(axis=1) | ~heldout.reshape(-1, 10).any(axis=1)).all()


def test_the_most_tokens_hold() -> None:
    lengths = lengths_of(50_000)
    heldout = choose(lengths, np.arange(len(lengths)), fraction=0.5, max_tokens=5_000)
    assert 4_900 < lengths[heldout].sum() <= 5_000


def test_one_long_document_gives_runs_of_sentences() -> None:
    lengths = lengths_of(200_000)
    heldout = choose(lengths, [0])
    assert lengths[heldout].sum() == pytest.approx(0.01 * lengths.sum(), rel=0.1)
    runs = np.flatnonzero(np.diff(heldout.astype(int), prepend=0) == 1)
    assert 10 <= len(runs) <= 20
    assert (runs % 100 == 0).all()


def test_documents_longer_than_the_whole_held_out_part_are_passed_over() -> None:
    lengths = np.full(10_000, 10, dtype=np.uint32)
    documents = [0, 9_000, *range(9_100, 10_000, 5)]  # a book, a chapter, and short notes
    heldout = choose(lengths, documents, fraction=0.02)
    assert not heldout[:9_000].any()
    assert 1_800 <= lengths[heldout].sum() <= 2_000


def test_a_small_text_gives_a_tenth_but_no_more_than_is_useful() -> None:
    small = np.full(500, 10, dtype=np.uint32)
    assert small[choose(small, [0])].sum() == 500
    medium = np.full(10_000, 10, dtype=np.uint32)
    assert medium[choose(medium, [0])].sum() == LEAST_TOKENS


@pytest.mark.parametrize("count", [2, 3, 10])
def test_a_few_sentences_give_one_and_keep_the_rest(count: int) -> None:
    assert choose(np.full(count, 7, dtype=np.uint32), [0]).sum() == 1


def test_a_single_sentence_stays_for_training() -> None:
    assert not choose(np.array([30], dtype=np.uint32), [0], fraction=0.5).any()


def test_zero_holds_nothing_out() -> None:
    assert not choose(lengths_of(1000), [0], fraction=0.0).any()


def test_the_choice_depends_on_the_seed_only() -> None:
    lengths = lengths_of(5000)
    documents = np.arange(0, 5000, 3)
    first = choose(lengths, documents, seed=5)
    assert (choose(lengths, documents, seed=5) == first).all()
    assert (choose(lengths, documents, seed=6) != first).any()


def test_text_added_at_the_end_moves_no_document_to_the_other_side_of_its_hash() -> None:
    assert (hashes(100, seed=3) == hashes(1000, seed=3)[:100]).all()


def test_hashes_are_splitmix64() -> None:
    # The first outputs of SplitMix64 started from 0. [Vigna, splitmix64.c]
    assert [f"{h:x}" for h in hashes(3, seed=0)] == ["e220a8397b1dcdaf", "6e789e6aa1b965f4", "6c45d188009454f"]

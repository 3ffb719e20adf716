"""What is found wrong in vocabulary files, and how it is repaired."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo.errors import InputError, VocabularyError
from elmo.text.vocabulary import SPECIALS, Vocabulary
from elmo.text.vocabulary_check import check, fix, rank_correlation

GOOD = [*SPECIALS, "the", "of", "bank"]


def found(lines: list[str]) -> list[tuple[str, int | None]]:
    return [(finding.problem, finding.line) for finding in check(lines)]


def test_a_good_vocabulary_has_no_findings_and_stays_as_it_is() -> None:
    assert check(GOOD) == []
    assert fix(GOOD).vocabulary.words == tuple(GOOD)
    assert fix(GOOD).cured == []


@pytest.mark.parametrize(
    ("lines", "findings"),
    [
        (["\ufeff<S>", *GOOD[1:]], [("mark", 1)]),
        ([*GOOD[:3], "!!!MAXTERMID", *GOOD[3:]], [("skipped", 4)]),
        (["!!!MAXTERMID", *GOOD], [("skipped", 1)]),
        ([*GOOD[:4], "  ", *GOOD[4:]], [("blank", 5)]),
        ([*GOOD, "of", "the"], [("duplicate", 7), ("duplicate", 8)]),
        ([*GOOD[:3], "the 5", "of\t3", "bank"], [("count", 4), ("count", 5)]),
        ([*GOOD, "New York"], [("space", 7)]),
        ([*GOOD, "caf\udce9"], [("encoding", 7)]),
        (["</S>", "<S>", "<UNK>", *GOOD[3:]], [("special", 1), ("special", 2)]),
        (["<s>", "</s>", "<unk>", *GOOD[3:]], [("special", 1), ("special", 2), ("special", 3)]),
        (["<S>", "</S>", "@@UNKNOWN@@", *GOOD[3:]], [("special", 3)]),
        (["<S>", "</S>", *GOOD[3:], "<UNK>"], [("special", 6)]),
        (["<S>", "</S>", *GOOD[3:]], [("special", None)]),
    ],
    ids=lambda value: "-".join(map(str, value[0])) if isinstance(value[0], tuple) else "",
)
def test_each_fault_is_found_and_repaired(lines: list[str], findings: list[tuple[str, int | None]]) -> None:
    assert found(lines) == findings
    repair = fix(lines)
    assert repair.vocabulary.words == tuple(GOOD)
    assert repair.cured == check(lines)
    assert all(finding.cure for finding in repair.cured)
    assert check(repair.vocabulary.words) == []


def test_an_ordinary_word_that_looks_like_a_special_stays_when_the_special_is_there() -> None:
    lines = [*GOOD, "<s>", "<unk>"]
    assert check(lines) == []
    assert fix(lines).vocabulary.words == tuple(lines)


def test_a_blank_first_line_moves_the_specials() -> None:
    assert [problem for problem, _ in found(["", *GOOD])] == ["blank", "special", "special", "special"]


def test_findings_name_the_line_the_value_and_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"<S>\r\n</S>\r\n<Unk>\r\nthe\r\ncaf\xe9\r\nthe\r\n")
    assert list(map(str, check(path))) == [
        "line 3: '<Unk>' stands for '<UNK>', which must be the third entry, in these letters",
        r"line 5: not UTF-8: byte 0xe9 in 'caf\\xe9'",
        "line 6: 'the' is also on line 4; the id of the last one counts",
    ]
    fix(path).vocabulary.write(path)
    assert Vocabulary.read(path).words == (*SPECIALS, "the")


def test_an_unsorted_vocabulary_is_found_and_sorted_by_counts() -> None:
    words = [f"w{i:02}" for i in range(30)]
    counts = {word: 1000 // (i + 1) for i, word in enumerate(words)}
    assert check([*SPECIALS, *words], counts) == []
    (finding,) = check([*SPECIALS, *reversed(words)], counts)
    assert finding.problem == "order"
    assert "-1.00" in str(finding)
    shuffled = list(np.random.default_rng(0).permutation(words))
    assert fix([*SPECIALS, *shuffled, "unseen"], counts).vocabulary.words == (*SPECIALS, *words, "unseen")


@given(st.lists(st.integers(1, 4), min_size=10, max_size=40))
@settings(max_examples=60)
def test_sorted_words_correlate_perfectly_however_many_are_equally_frequent(numbers: list[int]) -> None:
    counts = {f"w{i}": number for i, number in enumerate(sorted(numbers, reverse=True))}
    assert rank_correlation(list(counts), counts) == pytest.approx(1)


def test_words_without_counts_do_not_change_the_correlation() -> None:
    counts = {f"w{i}": 100 - i for i in range(20)}
    assert rank_correlation(["x", *counts, "y"], counts) == pytest.approx(1)
    assert rank_correlation(["x", "y"], counts) is None


def test_a_file_without_words_cannot_be_repaired(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("<S>\n</S>\n<UNK>\n", encoding="utf-8")
    with pytest.raises(VocabularyError, match=r"vocab\.txt: the vocabulary has no words"):
        fix(path)
    path.write_bytes(b"")
    assert [finding.problem for finding in check(path)] == ["special"] * 3


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.txt: cannot be read"):
        check(tmp_path / "none.txt")

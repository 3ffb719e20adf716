"""The softmax vocabulary: built in a fixed order, read as bilm-tf reads it, written and read again."""

import pickle
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo.errors import ConfigError, InputError, UserError, VocabularyError
from elmo.text.vocabulary import SPECIALS, UNKNOWN_ID, Vocabulary

COUNTS = {"the": 50, "of": 30, "bank": 10, "and": 30, "river": 5, "loan": 5, "once": 1, "never": 0}

# What a token can be: no white space, nothing that UTF-8 cannot hold.
tokens = st.text(alphabet=st.characters(codec="utf-8"), min_size=1).filter(lambda word: word.split() == [word])


def test_words_are_sorted_by_frequency_and_then_by_spelling() -> None:
    assert Vocabulary.build(COUNTS).words == (*SPECIALS, "the", "and", "of", "bank", "loan", "river", "once")


@given(st.dictionaries(tokens, st.integers(1, 5), min_size=1))
@settings(max_examples=60)
def test_the_order_of_the_counts_does_not_matter(counts: dict[str, int]) -> None:
    counts.setdefault("word", 1)
    backwards = dict(reversed(counts.items()))
    assert Vocabulary.build(counts) == Vocabulary.build(backwards)


def test_size_counts_the_specials() -> None:
    assert Vocabulary.build(COUNTS, size=5).words == (*SPECIALS, "the", "and")
    assert len(Vocabulary.build(COUNTS, size=10**6)) == 10


def test_min_count_drops_rare_words() -> None:
    assert Vocabulary.build(COUNTS, min_count=10).words == (*SPECIALS, "the", "and", "of", "bank")


@pytest.mark.parametrize(("coverage", "words"), [(0.3, 1), (0.61, 2), (110 / 131, 3), (0.99, 6), (1.0, 7)])
def test_coverage_keeps_as_few_words_as_cover_the_share(coverage: float, words: int) -> None:
    vocabulary = Vocabulary.build(COUNTS, coverage=coverage)
    assert len(vocabulary) == 3 + words
    covered = [COUNTS[word] for word in vocabulary.words[3:]]
    assert sum(covered) >= coverage * 131 > sum(covered[:-1])


def test_specials_in_a_text_get_no_second_entry() -> None:
    assert Vocabulary.build(Counter(["<S>", "<UNK>", "!!!MAXTERMID", "", "a"])).words == (*SPECIALS, "a")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 10, "coverage": 0.5}, "size=10 and coverage=0.5"),
        ({"size": 3}, "size=3 leaves no room"),
        ({"coverage": 0.0}, r"coverage=0\.0"),
        ({"coverage": 1.5}, r"coverage=1\.5"),
    ],
)
def test_impossible_limits_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Vocabulary.build(COUNTS, **options)


def test_a_vocabulary_without_words_is_refused() -> None:
    with pytest.raises(VocabularyError, match="min_count=51"):
        Vocabulary.build(COUNTS, min_count=51)
    with pytest.raises(VocabularyError, match="the text has none"):
        Vocabulary.build({})


def test_ids_are_places_and_unknown_words_share_one() -> None:
    vocabulary = Vocabulary.build(COUNTS)
    for i, word in enumerate(vocabulary.words):
        assert vocabulary.id_of(word) == i
        assert word in vocabulary
    assert vocabulary.id_of("nowhere") == UNKNOWN_ID
    assert "nowhere" not in vocabulary
    ids = vocabulary.ids_of(["the", "nowhere", "</S>"])
    assert ids.dtype == np.int64
    assert ids.tolist() == [3, UNKNOWN_ID, 1]
    assert vocabulary.ids_of([]).shape == (0,)


def test_a_vocabulary_is_a_value() -> None:
    vocabulary = Vocabulary.build(COUNTS)
    assert pickle.loads(pickle.dumps(vocabulary)) == vocabulary
    assert pickle.loads(pickle.dumps(vocabulary)).id_of("bank") == vocabulary.id_of("bank")
    assert len(repr(vocabulary)) < 50
    with pytest.raises(AttributeError):
        vocabulary.words = ()  # type: ignore[misc]


@pytest.mark.parametrize("words", [(), ("<S>", "</S>"), ("<s>", "</S>", "<UNK>"), ("<S>", "<UNK>", "</S>")])
def test_the_specials_come_first_or_there_is_no_vocabulary(words: tuple[str, ...]) -> None:
    with pytest.raises(VocabularyError, match="entry of a vocabulary must be"):
        Vocabulary(words)


@given(words=st.lists(tokens | st.just(""), max_size=8))
@settings(max_examples=60)
def test_what_is_written_is_read_again(words: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    vocabulary = Vocabulary((*SPECIALS, *(word for word in words if word != "!!!MAXTERMID")))
    path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    vocabulary.write(path)
    assert Vocabulary.read(path) == vocabulary


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_a_published_file_is_read_as_bilm_tf_reads_it(tmp_path: Path) -> None:
    data = "\ufeff<S>\r\n</S>\n<UNK>\n!!!MAXTERMID\n\nthe \nbank\nthe\nna\u2028ïve\n"
    vocabulary = Vocabulary.read(write(tmp_path / "vocab.txt", data.encode("utf-8")))
    assert vocabulary.words == (*SPECIALS, "", "the", "bank", "the", "na\u2028ïve")
    assert vocabulary.id_of("the") == 6
    assert vocabulary.id_of("") == 3


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"<S>\n</S>\nthe\n", r"vocab.txt: line 3 is 'the', but the third entry must be '<UNK>'; .*elmo vocab"),
        (b"!!!MAXTERMID\n<s>\n</S>\n<UNK>\n", "line 2 is '<s>', but the first entry must be '<S>'"),
        (b"<S>\n", "there are 1 entries, but the second entry must be '</S>'"),
        (b"", "there are 0 entries, but the first"),
    ],
)
def test_a_file_without_its_specials_is_refused_with_the_line(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        Vocabulary.read(write(tmp_path / "vocab.txt", data))


def test_a_file_that_is_not_utf8_is_refused_with_the_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"vocab.txt: line 4 is not UTF-8: byte 0xe9"):
        Vocabulary.read(write(tmp_path / "vocab.txt", b"<S>\n</S>\n<UNK>\ncaf\xe9\n"))


@pytest.mark.parametrize("word", ["a\nb", " a", "a\r", "!!!MAXTERMID", "\ud800"])
def test_a_word_that_no_line_can_hold_is_not_written(tmp_path: Path, word: str) -> None:
    path = write(tmp_path / "vocab.txt", b"before")
    with pytest.raises(VocabularyError, match=r"vocab.txt: (word 3|the word)"):
        Vocabulary((*SPECIALS, word)).write(path)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_writing_where_nothing_can_be_written_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"missing.vocab\.txt: cannot be written"):
        Vocabulary.build(COUNTS).write(tmp_path / "missing" / "vocab.txt")


def test_a_file_of_the_published_size_is_read_in_seconds(tmp_path: Path) -> None:
    words = (*SPECIALS, *(f"word{i}" for i in range(793_468)))
    path = tmp_path / "vocab.txt"
    Vocabulary(words).write(path)
    began = time.process_time()
    vocabulary = Vocabulary.read(path)
    assert time.process_time() - began < 5  # about 0.7 on one quiet core
    assert len(vocabulary) == 793_471
    assert vocabulary.id_of("word793467") == 793_470

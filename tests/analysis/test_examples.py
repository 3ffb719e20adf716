from collections import Counter

import pytest

from elmo.analysis.examples import SENSE_SETS, read_collection, read_senses
from elmo.text.tokenizer import Tokenizer


def test_each_ambiguous_word_has_five_sentences_in_each_of_two_senses():
    counts = Counter((use.word, use.sense) for use in read_senses())
    assert set(counts.values()) == {5}
    words = Counter(word for word, _ in counts)
    assert len(words) >= 20
    assert set(words.values()) == {2}


def test_the_open_set_has_twenty_sentences_of_each_of_25_other_words():
    uses = read_senses("open")
    assert set(Counter(use.word for use in uses).values()) == {20}
    counts: dict[str, Counter[str]] = {}
    for use in uses:
        counts.setdefault(use.word, Counter())[use.sense] += 1
    assert {tuple(sorted(senses.values())) for senses in counts.values()} == {(10, 10), (6, 7, 7)}
    assert len(counts) == 25
    assert not set(counts) & {use.word for use in read_senses()}
    assert not {use.sentence for use in uses} & set(read_collection())
    assert len({use.sentence for use in uses}) == 500


def test_no_two_sentences_of_a_sense_in_the_open_set_begin_alike():
    for sense in {(use.word, use.sense) for use in read_senses("open")}:
        begins = [tuple(use.sentence.split()[:3]) for use in read_senses("open") if use[:2] == sense]
        assert len(set(begins)) == len(begins), sense


@pytest.mark.parametrize("name", SENSE_SETS)
def test_each_sentence_is_one_and_has_its_word_once(name: str):
    tokenizer = Tokenizer(rule="treebank")
    for use in read_senses(name):
        tokens = tokenizer.tokenize(use.sentence).words
        assert [token.lower() for token in tokens].count(use.word) == 1, use
        assert use.word in tokens
        assert len(tokenizer.sentences(use.sentence)) == 1, use


def test_the_collection_has_no_sentence_twice_and_each_is_one_sentence():
    collection = read_collection()
    assert 300 <= len(collection) <= 600
    assert len(set(collection)) == len(collection)
    tokenizer = Tokenizer(rule="treebank")
    assert all(len(tokenizer.sentences(sentence)) == 1 for sentence in collection)

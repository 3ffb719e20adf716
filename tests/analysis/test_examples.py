from collections import Counter

from elmo.analysis.examples import read_collection, read_senses
from elmo.text.tokenizer import Tokenizer


def test_each_ambiguous_word_has_five_sentences_in_each_of_two_senses():
    counts = Counter((use.word, use.sense) for use in read_senses())
    assert set(counts.values()) == {5}
    words = Counter(word for word, _ in counts)
    assert len(words) >= 20
    assert set(words.values()) == {2}


def test_each_sentence_has_its_word_once():
    tokenizer = Tokenizer(rule="treebank")
    for use in read_senses():
        tokens = tokenizer.tokenize(use.sentence).words
        assert [token.lower() for token in tokens].count(use.word) == 1, use
        assert use.word in tokens


def test_the_collection_has_no_sentence_twice_and_each_is_one_sentence():
    collection = read_collection()
    assert 300 <= len(collection) <= 600
    assert len(set(collection)) == len(collection)
    tokenizer = Tokenizer(rule="treebank")
    assert all(len(tokenizer.sentences(sentence)) == 1 for sentence in collection)

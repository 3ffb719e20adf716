"""The words of a call: the same vectors whether they are looked up batch by batch or at once."""

import numpy as np
import pytest

from elmo.embed.numbered import NumberedSentences, number_sentences
from elmo.embed.wordcache import WordCache
from elmo.embed.wordsofcall import WordsOfCall

SENTENCES = [["a", "bank", "a"], [], ["the", "bank"], ["is", "a", "river", "?"]]


class Counting:
    """An encoder that keeps count of its calls and words."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, words: list[str]) -> np.ndarray:
        self.asked.append(list(words))
        return np.array([[len(word), sum(map(ord, word))] for word in words], np.float32).reshape(-1, 2)


def vectors(sentences: NumberedSentences, batch: list[int]) -> np.ndarray:
    return Counting()([word for n in batch for word in sentences.words_of(n)])


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("room", [3, 100])
def test_each_token_gets_the_vector_of_its_word(at_once: bool, room: int) -> None:
    sentences = number_sentences(SENTENCES)
    encode = Counting()
    words = WordsOfCall(sentences, WordCache(encode, size=2, most_bytes=room * 8), at_once=at_once)
    for batch in ([3, 0], [2], [1]):
        np.testing.assert_array_equal(words.of(np.array(batch)), vectors(sentences, batch))
    if room == 100:
        assert [len(asked) for asked in encode.asked] == ([6] if at_once else [5, 1])


def test_memory_that_does_not_suffice_is_not_asked_for_twice() -> None:
    sentences = number_sentences(SENTENCES)
    encode = Counting()

    def fail(words: list[str]) -> np.ndarray:
        if len(words) == 6:
            raise MemoryError("out of memory")
        return encode(words)

    words = WordsOfCall(sentences, WordCache(fail, size=2), at_once=True)
    with pytest.raises(MemoryError):
        words.of(np.array([0, 3]))
    np.testing.assert_array_equal(words.of(np.array([0])), vectors(sentences, [0]))
    assert encode.asked == [["a", "bank"]]

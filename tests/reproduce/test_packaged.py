"""What needs no data: the packaged sentences and what is measured on them."""

from pathlib import Path

import numpy as np
import pytest

from elmo.analysis.examples import Use
from elmo.errors import InputError
from elmo.reproduce.near import nearest_words
from elmo.reproduce.packaged import read_nouns_verbs, right_tags, write_nouns_verbs
from elmo.tasks.embedding.wordvectors import WordVectors
from elmo.tasks.tagging.task import Tagging, TaggingConfig
from elmo.text.tokenizer import Tokenizer


def test_every_word_is_a_noun_in_four_sentences_and_a_verb_in_four() -> None:
    uses = read_nouns_verbs()
    words = {use.word for use in uses}
    assert len(words) == 20
    tokenizer = Tokenizer()
    for word in words:
        tags = [use.sense for use in uses if use.word == word]
        assert sorted(tags) == ["noun"] * 4 + ["verb"] * 4
    assert all(tokenizer.tokenize(use.sentence).words.count(use.word) == 1 for use in uses)
    assert len({use.sentence for use in uses}) == 160


def test_a_tag_is_told_by_the_uses_of_other_words_alone() -> None:
    uses = [Use(word, tag, "") for word in "abc" for tag in ("noun", "noun", "verb", "verb")]
    signs = np.array([1.0 if use.sense == "noun" else -1.0 for use in uses])
    own = np.array([ord(use.word) for use in uses], dtype=np.float64)  # the word itself says nothing of its tag
    assert right_tags(np.stack([signs, own], axis=1), uses) == [1.0] * 12
    assert right_tags(np.stack([np.zeros(12), own], axis=1), uses) == [0.5] * 12
    turned = np.where(own == ord("a"), -signs, signs)  # in one word it is the other way round
    assert right_tags(np.stack([turned, own], axis=1), uses)[:4] == [0.0] * 4


def test_the_files_to_train_on_have_no_word_in_common(tmp_path: Path) -> None:
    data = write_nouns_verbs(tmp_path)
    reader = Tagging(TaggingConfig(chunks=False))
    words = []
    for path, count in ((data.train, 96), (data.dev, 32), (data.test, 32)):
        examples = reader.read(str(tmp_path / path))
        assert len(examples) == count
        tagged = [[(w, t) for w, t in zip(e.texts[0].tokens, e.answer, strict=True) if t != "other"] for e in examples]
        assert all(len(found) == 1 for found in tagged)
        words.append({found[0][0] for found in tagged})
    assert not words[0] & words[1] | words[0] & words[2] | words[1] & words[2]


def test_nearest_static_words_are_those_of_like_direction() -> None:
    vectors = WordVectors(["play", "game", "stone", "plays"], np.array([[1, 0], [4, 1], [-1, 0], [9, 0]], np.float32))
    assert nearest_words(vectors, "play", 2) == ["plays", "game"]
    with pytest.raises(InputError, match="the static vectors have no word 'work'"):
        nearest_words(vectors, "work")

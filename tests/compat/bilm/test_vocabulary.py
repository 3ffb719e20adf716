"""bilm-tf's vocabularies, and the traps that they set no more."""

import numpy as np
import pytest

from elmo.compat.bilm import UnicodeCharsVocabulary, Vocabulary
from elmo.errors import VocabularyError
from elmo.text.chars import boundary_rows, spell


@pytest.fixture
def write(tmp_path):
    def write(*lines: str):
        path = tmp_path / "vocab.txt"
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    return write


def test_ids_are_places_in_the_file_wherever_the_specials_stand(write):
    vocabulary = Vocabulary(write("fern", "</S>", " moss ", "!!!MAXTERMID", "<S>", "", "<UNK>"), validate_file=True)
    assert (vocabulary.bos, vocabulary.eos, vocabulary.unk, vocabulary.size) == (3, 1, 5, 6)
    assert vocabulary.word_to_id("moss") == 2
    assert vocabulary.word_to_id("") == 4
    assert vocabulary.word_to_id("lichen") == 5
    assert vocabulary.id_to_word(0) == "fern"
    assert vocabulary.decode([3, 0, 1]) == "<S> fern </S>"


def test_the_last_of_equal_words_counts(write):
    assert Vocabulary(write("<S>", "</S>", "fern", "fern")).word_to_id("fern") == 3


def test_sentences_are_encoded_between_their_boundaries(write):
    vocabulary = Vocabulary(write("<S>", "</S>", "<UNK>", "fern"))
    assert vocabulary.encode("fern moss").tolist() == [0, 3, 2, 1]
    assert vocabulary.encode(["fern moss"], split=False).tolist() == [0, 2, 1]
    assert vocabulary.encode("fern", reverse=True).tolist() == [1, 3, 0]


@pytest.mark.parametrize("missing", ["<S>", "</S>", "<UNK>"])
def test_validation_names_what_is_missing(write, missing):
    lines = [word for word in ("<S>", "</S>", "<UNK>", "fern") if word != missing]
    with pytest.raises(VocabularyError, match=rf"vocab.txt: {missing} is missing"):
        Vocabulary(write(*lines), validate_file=True)


@pytest.mark.parametrize("missing", ["<S>", "</S>"])
def test_a_vocabulary_without_boundaries_does_not_spell(write, missing):
    lines = [word for word in ("<S>", "</S>", "fern") if word != missing]
    with pytest.raises(VocabularyError, match=f"{missing} is missing"):
        UnicodeCharsVocabulary(write(*lines), 50)


def test_an_unknown_word_without_unk_is_named_and_known_words_do_without_it(write):
    vocabulary = Vocabulary(write("<S>", "</S>", "fern"))
    assert vocabulary.encode("fern").tolist() == [0, 2, 1]
    with pytest.raises(VocabularyError, match="'moss' is not in the vocabulary, and neither is <UNK>"):
        vocabulary.encode("moss")


def test_words_are_spelled_in_trainings_numbering(write):
    vocabulary = UnicodeCharsVocabulary(write("fern", "<S>", "</S>", "<UNK>"), 12)
    rows = np.concatenate(
        [spell(["fern"], characters=12), boundary_rows(characters=12), spell(["<UNK>"], characters=12)]
    )
    np.testing.assert_array_equal(vocabulary.word_char_ids, rows.astype(int) - 1)
    np.testing.assert_array_equal(vocabulary.encode_chars("fern"), rows[[1, 0, 2]].astype(int) - 1)
    np.testing.assert_array_equal(
        vocabulary.encode_chars(["fern"], reverse=True, split=False), rows[[2, 0, 1]].astype(int) - 1
    )
    np.testing.assert_array_equal(vocabulary.word_to_char_ids("moss")[:6], [258, *b"moss", 259])
    assert vocabulary.max_word_length == 12
    assert (vocabulary.bos_char, vocabulary.eos_char, vocabulary.bow_char) == (256, 257, 258)
    assert (vocabulary.eow_char, vocabulary.pad_char) == (259, 260)


def test_text_that_is_not_utf8_is_named(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"<S>\n</S>\nf\xe9n\n")
    with pytest.raises(Exception, match="line 3 is not UTF-8"):
        Vocabulary(path)

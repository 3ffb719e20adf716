import pytest

from elmo.errors import InputError
from elmo.text.codepoints import Dictionaries, dictionary_text, parse_dictionary, parse_dictionary_text

CHARACTERS = {"a": 0, "é": 1, "<bos>": 2, "<eos>": 3, "<oov>": 4, "<pad>": 5, "<bow>": 6, "<eow>": 7}
WORDS = {"<oov>": 0, "<bos>": 1, "<eos>": 2, "<pad>": 3, "aé": 4, "aaa": 5}
BOTH = Dictionaries(words=WORDS, characters=CHARACTERS, characters_in_row=6, longest=4)


def test_a_row_is_a_word_id_then_its_characters_between_swapped_marks():
    assert BOTH.spell(["aé"]).tolist() == [[4, 7, 0, 1, 6, 5, 5]]
    assert BOTH.spell([""]).tolist() == [[0, 7, 6, 5, 5, 5, 5]]


def test_unknown_words_and_characters_have_their_own_ids():
    assert BOTH.spell(["xa"]).tolist() == [[0, 7, 4, 0, 6, 5, 5]]


def test_a_word_is_cut_before_it_is_looked_up():
    only_words = Dictionaries(words=WORDS, characters=None, longest=3)
    assert only_words.spell(["aaaa", "aé"]).tolist() == [[5], [4]]
    assert BOTH.spell(["aaaaaa"]).tolist() == [[0, 7, 0, 0, 0, 0, 6]]
    assert BOTH.is_cut("aaaaa")
    assert not BOTH.is_cut("aaaa")
    whole = Dictionaries(words=WORDS, characters=None)
    assert whole.spell(["aaaa"]).tolist() == [[0]]


def test_typed_boundaries_are_boundaries_and_other_specials_are_spelled():
    rows = Dictionaries(words=WORDS, characters=CHARACTERS, characters_in_row=8, longest=6).spell(["<bos>", "<pad>"])
    assert rows[0].tolist() == [1, 7, 2, 6, 5, 5, 5, 5, 5]
    assert rows[1].tolist() == [3, 7, 4, 4, 0, 4, 4, 6, 5]


def test_boundary_rows_are_those_of_the_sentence_marks_and_never_cut():
    assert BOTH.boundary_rows()[:, :5].tolist() == [[1, 7, 2, 6, 5], [2, 7, 3, 6, 5]]
    assert Dictionaries(words=WORDS, characters=None).boundary_rows().tolist() == [[1], [2]]


def test_a_line_of_one_field_is_the_ideographic_space_and_the_last_of_equal_tokens_counts():
    text = "a\t0\n\u3000\t1\n b\t2\na\t3\n".encode()
    assert parse_dictionary(text, where="x.dic") == {"a": 3, "\u3000": 1, "b": 2}
    assert parse_dictionary("\ufeffa\t0\r\n".encode(), where="x.dic") == {"a": 0}


@pytest.mark.parametrize("content", [b"a", b"a\t1\t2", b"a\t1.5", b"a\t\xd9\xa1", b"a\t99999999999", b"\n", b"\xff\t1"])
def test_a_line_that_is_no_entry_is_named(content):
    with pytest.raises(InputError, match=r"x\.dic: line 1"):
        parse_dictionary(content, where="x.dic")


def test_any_token_survives_our_own_file():
    ids = {"a": 0, "\u3000": 1, "\t": 2, "": 3, " x": 4, "\u2028": 5, "\x85": 6, "\r": 7}
    assert parse_dictionary_text(dictionary_text(ids), where="x.tsv") == ids


def test_a_dictionary_without_its_specials_is_refused():
    with pytest.raises(InputError, match="word dictionary has no entry '<pad>'"):
        Dictionaries(words={"<oov>": 0}, characters=None)
    with pytest.raises(InputError, match="character dictionary has no entry '<eow>'"):
        Dictionaries(words=None, characters={k: v for k, v in CHARACTERS.items() if k != "<eow>"})
    with pytest.raises(InputError, match="rows of 6 characters cannot hold words of 9"):
        Dictionaries(words=None, characters=CHARACTERS, characters_in_row=6, longest=9)

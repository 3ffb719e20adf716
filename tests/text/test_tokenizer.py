"""The tokenizer as a value, and what holds for each of its rules on any text."""

import json
import pickle
import re
import subprocess
import sys
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo.errors import ConfigError
from elmo.text.tokenizer import RULES, Rule, Tokenizer

TOKENIZERS = [Tokenizer(rule, language) for rule in RULES for language in ("en", "de", None)]

texts = st.text() | st.text(alphabet=st.sampled_from("aB1.'’‘\"!?,-() \n\t\u00a0\u3000日。é\u0301\0\ud800🇫\x1c\u200b"))


def straightened(text: str) -> str:
    """For comparing: a token may have `'` where its text has another apostrophe."""
    return text.replace("’", "'").replace("ʼ", "'").replace("‘", "'")


@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=str)
@given(text=texts)
@settings(max_examples=60)
def test_tokens_are_where_their_offsets_say_and_hold_no_white_space(tokenizer: Tokenizer, text: str) -> None:
    tokens = tokenizer.tokenize(text)
    before = 0
    for word, (start, end) in zip(tokens.words, tokens.offsets, strict=True):
        assert straightened(text[start:end]) == straightened(word) != ""
        assert word.split() == [word]
        assert before <= start
        before = end
    if tokenizer.rule != "unicode":
        assert straightened("".join(tokens.words)) == straightened("".join(text.split()))


@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=str)
@given(text=texts)
@settings(max_examples=60)
def test_sentences_are_the_tokens_of_each_span(tokenizer: Tokenizer, text: str) -> None:
    sentences = tokenizer.sentences(text)
    spans = tokenizer.split_sentences(text)
    assert [tokens.words for tokens in sentences] == [tokenizer.tokenize(text[a:b]).words for a, b in spans]
    for tokens in sentences:
        assert [straightened(text[a:b]) for a, b in tokens.offsets] == list(map(straightened, tokens.words))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("text", ["", " \t\n", "\u3000\u00a0"])
def test_text_without_words_has_no_tokens_and_no_sentences(rule: Rule, text: str) -> None:
    assert len(Tokenizer(rule).tokenize(text)) == 0
    assert Tokenizer(rule).sentences(text) == []


@pytest.mark.parametrize("rule", RULES)
def test_a_word_of_a_million_characters_is_one_token(rule: Rule) -> None:
    word = "w" * 10**6
    assert Tokenizer(rule).tokenize(f"the {word} ends").words == ["the", word, "ends"]


def test_rules_cut_the_same_text_differently() -> None:
    text = "I can't pay $5.\u00a0Ok?"
    assert Tokenizer("treebank").tokenize(text).words == ["I", "ca", "n't", "pay", "$", "5.", "Ok", "?"]
    assert Tokenizer("unicode").tokenize(text).words == ["I", "can't", "pay", "$", "5", ".", "Ok", "?"]
    assert Tokenizer("whitespace").tokenize(text).words == ["I", "can't", "pay", "$5.", "Ok?"]


@pytest.mark.parametrize("rule", ["treebank", "unicode"])
@pytest.mark.parametrize("text", ["It didn't rain at the dogs's door.", "'I can't,' she'd said.", "l'homme d'hier"])
def test_curly_apostrophes_give_the_tokens_and_places_of_straight_ones(rule: Rule, text: str) -> None:
    straight = Tokenizer(rule).tokenize(text)
    assert Tokenizer(rule).tokenize(re.sub(r"(?<=\w)'(?=\w)", "’", text)) == straight


def test_tokenized_text_keeps_its_apostrophes() -> None:
    assert Tokenizer("whitespace").tokenize("did n’t").words == ["did", "n’t"]


def test_one_sentence_starts_at_its_first_token_and_no_tokens_are_no_sentence() -> None:
    assert Tokenizer().tokenize("One. Two.").sentence_starts == [0]
    assert Tokenizer().tokenize(" ").sentence_starts == []


def test_sentences_carry_offsets_into_the_whole_text() -> None:
    text = "It's late. Don't go!"
    first, second = Tokenizer().sentences(text)
    assert first.words == ["It", "'s", "late", "."]
    assert second.words == ["Do", "n't", "go", "!"]
    assert second.offsets == [(11, 13), (13, 16), (17, 19), (19, 20)]


def test_without_a_language_each_line_is_a_sentence() -> None:
    text = "One . Two .\n\n three "
    assert [tokens.words for tokens in Tokenizer("whitespace", None).sentences(text)] == [
        ["One", ".", "Two", "."],
        ["three"],
    ]


def test_the_language_decides_where_sentences_end() -> None:
    text = "Am 3. Mai kam er."
    assert len(Tokenizer("unicode", "en").sentences(text)) == 2
    assert len(Tokenizer("unicode", "de").sentences(text)) == 1


@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=str)
def test_a_tokenizer_survives_json_and_pickle(tokenizer: Tokenizer) -> None:
    assert Tokenizer.from_dict(json.loads(json.dumps(tokenizer.to_dict()))) == tokenizer
    assert pickle.loads(pickle.dumps(tokenizer)) == tokenizer


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rule": "moses"}, "rule is 'moses', but it must be one of 'treebank', 'unicode', 'whitespace'"),
        ({"rule": None}, "rule is None"),
        ({"rule": ["treebank"]}, r"rule is \['treebank'\]"),
        ({"language": "english"}, "language is 'english', but it must be a code such as 'en'"),
        ({"language": 7}, "language is 7"),
        ({"rule": "unicode", "lang": "de"}, "unknown key 'lang'"),
        (["treebank"], "must be an object"),
    ],
)
def test_a_wrong_description_names_the_value_and_what_is_allowed(values: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Tokenizer.from_dict(values)


def test_importing_the_tokenizer_loads_neither_nltk_nor_regex_nor_torch() -> None:
    code = (
        "import sys; from elmo.text.tokenizer import Tokenizer; "
        "Tokenizer().sentences(\"Mr. X isn't here... At 5 p.m. on Jan. 3 he'd left. 'Tis so.\");"
        "sys.exit(bool({'nltk', 'regex', 'torch'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("rule", RULES)
@given(text=st.text(max_size=60))
def test_words_alone_are_the_words_of_the_sentences(rule, text):
    tokenizer = Tokenizer(rule=rule)
    assert tokenizer.sentence_words(text) == [tokens.words for tokens in tokenizer.sentences(text)]


def test_every_rule_has_a_name_and_a_module() -> None:
    assert tuple(RULES) == get_args(Rule)


def test_a_rule_that_no_dictionary_can_look_up_is_named() -> None:
    with pytest.raises(ConfigError, match=r"tokenizer rule is \['treebank'\]"):
        Tokenizer.from_dict({"rule": ["treebank"]})

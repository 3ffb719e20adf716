"""Unicode words: against the boundaries of the `regex` module on the whole text, and in the languages users have."""

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from elmo.text import unicode_words
from elmo.text.apostrophes import straighten_inner

BOUNDARY = regex.compile(r"\b", flags=regex.WORD | regex.VERSION1)

ATOMS = """
    a é e\u0301 ' ’ . , : 1 23 _ - 日 本 の テスト 한국 ไ हि א \u200d 👩 👧 🇫 🇷 \u00ad \u0301 \u200b \0 \ud800
""".split()  # noqa: SIM905


def by_definition(text: str) -> list[str]:
    """The stretches between the boundaries of the whole text (after a space), cut at white space too."""
    stretches = BOUNDARY.split(" " + text.replace("\u200b", " "))
    return [word for stretch in stretches for word in stretch.split()]


@given(st.lists(st.sampled_from([*ATOMS, " ", " ", "\t", "\u3000"]), max_size=12).map("".join) | st.text())
@example(" \u0301abc")
@example("🇫🇷🇫🇷🇫")
@settings(max_examples=300)
def test_words_are_those_between_unicode_boundaries(text: str) -> None:
    tokens = unicode_words.tokenize(text)
    text = straighten_inner(text)
    assert tokens.words == by_definition(text)
    assert [text[start:end] for start, end in tokens.offsets] == tokens.words
    assert tokens.starts == sorted(set(tokens.starts))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("L'homme qu'on aime, n'est-ce pas ?", "L'homme qu'on aime , n'est - ce pas ?"),
        ("Das kostet 3,50 €.", "Das kostet 3,50 € ."),
        ("我爱北京天安门。", "我 爱 北 京 天 安 门 。"),
        ("コンピュータで読む", "コンピュータ で 読 む"),
        ("한국어를 배웁니다.", "한국어를 배웁니다 ."),
        ("हिन्दी में लिखें।", "हिन्दी में लिखें ।"),
        ("كيف حالك؟", "كيف حالك ؟"),
        ("ab\u200bcd", "ab cd"),
        ("🇫🇷🇩🇪 👩\u200d👧", "🇫🇷 🇩🇪 👩\u200d👧"),
    ],
)
def test_other_languages_are_cut_into_words(text: str, expected: str) -> None:
    assert unicode_words.tokenize(text).words == expected.split(" ")


def test_a_word_of_a_million_letters_is_one_token() -> None:
    for word in ("a" * 10**6, "é" * 10**6):
        assert unicode_words.tokenize(word).words == [word]


def test_a_long_run_of_flags_takes_linear_time() -> None:
    tokens = unicode_words.tokenize("🇫🇷" * 20_000)
    assert tokens.words == ["🇫🇷"] * 20_000

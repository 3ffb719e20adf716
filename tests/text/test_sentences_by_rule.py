"""Sentences of other languages."""

import pytest

from elmo.text.sentences_by_rule import split


def sentences(text: str, code: str) -> list[str]:
    return [text[start:end] for start, end in split(text, code)]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("de", ["Am 3. Mai kam Dr. Ernst Maier, z.B. mit dem Zug.", "Er blieb 1990.", "Dann ging er!"]),
        ("de", ["Er rief: »Komm!«", "Sie kam.", "»Gut«, sagte er."]),
        ("fr", ["« Viens ! »", "Il partit avec M. Dupont et Mme. Leroy.", "Pourquoi ?", "« Rien », dit-elle."]),
        ("es", ["¿Qué hora es?", "¡Tarde!", "El Sr. García duerme."]),
        ("ru", ["Он живёт на ул. Ленина.", "Это проф. Иванов."]),
        ("de", ["Er fragte: „Wann?“", "Sie schwieg."]),
        ("pl", ["No i co . . .", "Nic."]),
        ("nl", ["Dit is dhr. Jansen.", "Hij lacht!"]),
        ("it", ["Il dott. Rossi parla...", "Poi tace."]),
        ("pt", ["O Sr. Silva saiu.", "Ninguém viu?"]),
        ("he", ["שלום.", "מה שלומך?"]),
    ],
)
def test_spaced_languages_are_split_at_spaces(code: str, expected: list[str]) -> None:
    assert sentences(" ".join(expected), code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("zh", ["我来了。", "你呢？", "他说：“走吧！”", "好"]),
        ("ja", ["「行こう。」", "彼は言った。", "値は３．１４です．", "はい！？"]),
        ("ar", ["كيف حالك؟", "أنا بخير."]),
        ("ur", ["یہ ایک ہے۔", "وہ دو ہے۔"]),
        ("hi", ["यह एक है।", "वह दो है॥", "ठीक"]),
        ("hy", ["Սա մեկն է։", "Նա երկուսն է։"]),
        ("my", ["တစ်။", "နှစ်။"]),
        ("km", ["មួយ។", "ពីរ៕"]),
        ("am", ["አንድ።", "ሁለት፧"]),
    ],
)
@pytest.mark.parametrize("space", ["", " "])
def test_marks_that_only_end_sentences_end_them_with_and_without_a_space(
    code: str, expected: list[str], space: str
) -> None:
    assert sentences(space.join(expected), code) == expected


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("de", "Das kam z. B. so, d.h. nicht anders."),
        ("de", "Er kam ... und ging."),
        ("de", "„Was?“ fragte er."),
        ("sv", "J. R. Ewing kom hem 3.5 timmar senare"),
        ("fi", "Se tapahtui 3. Toukokuuta"),
        ("pl", "No i co . . . nic"),
        ("zh", "圆周率是３．１４吗"),
    ],
)
def test_these_are_one_sentence(code: str, text: str) -> None:
    assert sentences(text, code) == [text]


def test_an_abbreviation_counts_in_its_own_language_only() -> None:
    text = "Sie sah Hr. Meier."
    assert len(sentences(text, "de")) == 1
    assert len(sentences(text, "xx")) == 2


@pytest.mark.parametrize("unit", [".", "。", "…", ".)", "。」", '."', "a. ", ". "])
def test_long_runs_take_linear_time(unit: str) -> None:
    text = (unit * 100_000).strip()
    assert split(text, "ja")[-1][1] == len(text)

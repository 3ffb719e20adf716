"""Which texts are hard-wrapped, and what their paragraphs are."""

import random
import re
import textwrap

import pytest

from elmo.text.wrapped import LONG_PARAGRAPH, LONGEST_PARAGRAPH, join_wrapped, sample_of, study_breaks

WORDS = [
    "the",
    "of",
    "a",
    "ferry",
    "harbour",
    "was",
    "slowly",
    "leaving",
    "when",
    "nobody",
    "counted",
    "it",
    "rained",
    "Lisbon",
]


def sentence(chooser: random.Random) -> str:
    words = chooser.choices(WORDS, k=chooser.randrange(4, 25))
    return f"{' '.join(words).capitalize()}{chooser.choice('...?!')}"


def paragraphs(count: int = 60, *, seed: int = 0) -> list[str]:
    chooser = random.Random(seed)
    return [" ".join(sentence(chooser) for _ in range(chooser.randrange(1, 8))) for _ in range(count)]


def is_wrapped(text: str) -> bool:
    return study_breaks(text.split("\n")).wrapped


def joined(text: str, width: int) -> list[str]:
    return [line for _, line in join_wrapped(enumerate(text.split("\n"), start=1), width=width)]


@pytest.mark.parametrize("width", [40, 60, 72, 80, 120])
@pytest.mark.parametrize("between", ["\n\n", "\n"])
def test_text_that_is_cut_at_a_width_is_recognized_and_joined_again(width: int, between: str) -> None:
    text = paragraphs()
    wrapped = between.join(textwrap.fill(paragraph, width) for paragraph in text)
    breaks = study_breaks(wrapped.split("\n"))
    assert breaks.wrapped
    assert width - 4 <= breaks.width <= width
    if between == "\n\n":
        assert [line for line in joined(wrapped, breaks.width) if line] == text


def test_text_without_case_is_recognized_by_its_full_lines() -> None:
    table = str.maketrans({letter: chr(0x05D0 + n) for n, letter in enumerate("abcdefghijklmnopqrstuvwxyz")})
    text = [paragraph.lower().translate(table) for paragraph in paragraphs()]
    assert is_wrapped("\n\n".join(textwrap.fill(paragraph, 70) for paragraph in text))
    assert not is_wrapped("\n".join(text))


def verse() -> str:
    words = iter(" ".join(paragraphs()).split())
    lines = []
    while line := [word for word, _ in zip(words, range(len(lines) % 3 + 5), strict=False)]:
        lines.append(" ".join(line).capitalize())
    return "\n".join(lines)


def sentences() -> list[str]:
    return [s for paragraph in paragraphs() for s in re.split(r"(?<=[.?!]) ", paragraph)]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(paragraphs()),
        "\n".join(sentences()),
        "\n".join(s.lower().rstrip(".?!") for s in sentences()),
        "\n".join(s for s in sentences() if 60 <= len(s) <= 80),
        "\n".join(WORDS * 20),
        verse(),
        verse().lower(),
        textwrap.fill(paragraphs(1, seed=3)[0], 72),
        "",
        "\n\n\n",
        "one line",
    ],
)
def test_lines_that_the_writer_ended_are_not_taken_for_wrapped(text: str) -> None:
    assert not is_wrapped(text)


def test_blank_lines_stay_and_paragraphs_have_the_number_of_their_last_line() -> None:
    lines = ["one line of some length that", "goes on here", "", " ", "The next"]
    assert list(join_wrapped(enumerate(lines, start=1), width=30)) == [
        (2, "one line of some length that goes on here"),
        (3, ""),
        (4, ""),
        (5, "The next"),
    ]


def test_a_short_line_ends_its_paragraph_unless_the_next_goes_on_in_lower_case() -> None:
    assert joined("CHAPTER I\nIt was a dark and stormy night in\nthe harbour", 34) == [
        "CHAPTER I",
        "It was a dark and stormy night in the harbour",
    ]
    assert joined("It was\ndark", 34) == ["It was dark"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a well-\nknown harbour", "a well-known harbour"),
        ("Ein-\nund Ausgang", "Ein- und Ausgang"),
        ("from 1914-\nto 1918", "from 1914- to 1918"),
        ("a dash -\nand more", "a dash - and more"),
        ("he said--\nthen left", "he said-- then left"),
        ("the Smith-\nJones house", "the Smith- Jones house"),
        ("har\u00ad\nbour", "harbour"),
    ],
)
def test_a_hyphen_at_the_end_of_a_line_is_kept_and_a_soft_one_goes(text: str, expected: str) -> None:
    assert joined(text, 8) == [expected]


def test_a_paragraph_without_an_end_is_cut_after_a_sentence_or_at_last_anywhere() -> None:
    line = "This line is full and so is the next one, on and on until"
    endless = [f"{line} it ends." if n % 100 == 99 else line for n in range(3 * LONG_PARAGRAPH // len(line))]
    cut = joined("\n".join(endless), len(line))
    assert len(cut) == 3
    assert all(paragraph.endswith("it ends.") for paragraph in cut[:-1])
    assert " ".join(cut) == " ".join(endless)
    never = [line] * (2 * LONGEST_PARAGRAPH // len(line))
    assert max(map(len, joined("\n".join(never), len(line)))) < LONGEST_PARAGRAPH + 2 * len(line)


def test_a_sample_is_the_beginning_and_the_rest_is_still_to_come() -> None:
    lines = iter(enumerate(["x"] * 10_000))
    sample = sample_of(lines)
    assert next(lines)[0] == len(sample) < 10_000

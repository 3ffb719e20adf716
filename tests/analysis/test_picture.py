"""Pictures of a word's uses: which uses, in which groups, and files that are pictures."""

from pathlib import Path

import pytest
from matplotlib.font_manager import fontManager
from tests.tiny import make_bilm

from elmo.analysis.examples import read_senses
from elmo.analysis.fonts import DEFAULT, fonts_for
from elmo.analysis.picture import Spot, draw_spots, spots_of_senses, spots_of_words
from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError, InputError
from elmo.text.tokenizer import Tokenizer
from elmo.weights.loaded import LoadedModel

SENTENCES = [
    ["the", "bank", "of", "the", "river"],
    ["a", "Bank", "with", "money", "in", "the", "bank"],
    ["no", "such", "word"],
    ["one", "bank", "more"],
]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder(LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer()), device="cpu")


def test_uses_come_one_a_sentence_up_to_the_most() -> None:
    spots = spots_of_words(SENTENCES, ["bank"], most=20, ignore_case=False)
    assert [spot.place for spot in spots] == [1, 6, 1]
    assert [spot.place for spot in spots_of_words(SENTENCES, ["bank"], most=20, ignore_case=True)] == [1, 1, 1]
    assert len(spots_of_words(SENTENCES, ["bank"], most=2, ignore_case=False)) == 2


def test_a_word_that_the_text_lacks_is_named() -> None:
    with pytest.raises(InputError, match="'quay'"):
        spots_of_words(SENTENCES, ["bank", "quay"], most=3, ignore_case=False)


def test_packaged_uses_are_grouped_by_their_senses() -> None:
    spots = spots_of_senses([use for use in read_senses() if use.word == "bank"], Tokenizer())
    assert len(spots) == 10
    assert len({spot.group for spot in spots}) == 2
    assert {spot.tokens[spot.place] for spot in spots} == {"bank"}


def test_an_excerpt_is_cut_at_words() -> None:
    spot = Spot("x", [*(["left"] * 20), "bank", *(["right"] * 20)], 20)
    assert spot.excerpt.startswith("... left")
    assert spot.excerpt.endswith("right ...")
    assert "[bank]" in spot.excerpt


@pytest.mark.parametrize(("suffix", "begins"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_a_picture_is_written_in_the_format_of_its_name(
    embedder: Embedder, tmp_path: Path, suffix: str, begins: bytes
) -> None:
    spots = spots_of_words(SENTENCES, ["bank"], most=20, ignore_case=False)
    draw_spots(embedder, spots, tmp_path / f"uses{suffix}")
    assert (tmp_path / f"uses{suffix}").read_bytes().startswith(begins)


def test_too_few_uses_and_other_names_are_refused(embedder: Embedder, tmp_path: Path) -> None:
    spots = spots_of_words(SENTENCES, ["bank"], most=2, ignore_case=False)
    with pytest.raises(InputError, match="needs three"):
        draw_spots(embedder, spots, tmp_path / "uses.png")
    with pytest.raises(ConfigError, match=r"ends in .png, .svg, .pdf"):
        draw_spots(embedder, spots, tmp_path / "uses.gif")


def test_a_script_without_a_font_is_told_in_one_line(
    embedder: Embedder, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = [entry for entry in fontManager.ttflist if entry.name == DEFAULT]
    monkeypatch.setattr(fontManager, "ttflist", own)  # whatever this machine has
    draw_spots(embedder, [Spot("\u94f6\u884c", ["a", "\u94f6\u884c", "b"], 1)] * 3, tmp_path / "uses.png")
    (message,) = caplog.messages
    assert message.startswith("no installed font has 2 of the characters (\u884c \u94f6 ...): boxes are drawn")
    assert (tmp_path / "uses.png").is_file()


def test_other_fonts_are_taken_only_where_they_are_needed() -> None:
    assert fonts_for(["Anna ça, \u041f\u0440\u0438\u0432\u0435\u0442"]) == [DEFAULT]
    assert fonts_for(["\u94f6"])[0] == DEFAULT

"""The bar is drawn on terminals only; the estimates are plain arithmetic."""

import io
import sys

import pytest

from elmo.corpus.bar import Moment, ProgressBar, StageClock


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def draw(stream: io.StringIO, monkeypatch, fraction: float | None) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    bar = ProgressBar()
    bar(Moment("reading", fraction, 5_000, 2.0))
    bar(Moment("reading", fraction, 10_000, 4.0))
    bar(Moment("writing", 1.0, 10_000, 1.0))
    bar.close()
    return stream.getvalue()


def test_a_terminal_sees_stage_words_and_speed(monkeypatch) -> None:
    drawn = draw(Terminal(), monkeypatch, 0.25)
    assert "corpus: reading  25%" in drawn
    assert "10,000 words, 2,500/s" in drawn
    assert "corpus: writing 100%" in drawn


def test_an_unknown_end_is_drawn_without_percentage(monkeypatch) -> None:
    drawn = draw(Terminal(), monkeypatch, None)
    assert "corpus: reading" in drawn
    assert "corpus: reading   0%" not in drawn


def test_a_file_sees_nothing(monkeypatch) -> None:
    assert draw(io.StringIO(), monkeypatch, 0.25) == ""


def test_the_time_left_follows_from_the_fraction() -> None:
    assert Moment("reading", 0.25, 100, 10.0).seconds_left == pytest.approx(30)
    assert Moment("reading", None, 100, 10.0).seconds_left is None
    assert Moment("reading", 0.0, 0, 0.0).seconds_left is None
    assert Moment("reading", 0.25, 100, 10.0).words_per_second == pytest.approx(10)
    assert Moment("reading", 0.0, 0, 0.0).words_per_second == 0


def test_a_clock_adds_words_and_never_passes_the_end() -> None:
    seen: list[Moment] = []
    clock = StageClock("merging", seen.append, total=10)
    clock.advance(done=4, words=100)
    clock.advance(done=12, words=50)
    assert [(p.fraction, p.words) for p in seen] == [(0.4, 100), (1.0, 150)]

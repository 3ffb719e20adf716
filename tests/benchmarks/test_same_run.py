"""Two runs of one command have the same metrics, and a different seed is seen."""

import sys
from pathlib import Path

import pytest
from benchmarks.pretrain import same_run

from elmo.corpus.build import build_corpus
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.pretraining import pretrain


def test_a_second_run_is_the_same_and_another_seed_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("".join(f"A cat number {n % 7} saw dog number {n % 5} .\n" for n in range(200)), encoding="utf-8")
    store = build_corpus([text], tmp_path / "corpus", heldout=0.2, workers=1)
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        config = TrainConfig(size="tiny", steps=6, batch_size=4, seed=seed, log_every=2, evaluate_every=3)
        pretrain(store, config, tmp_path / name, device="cpu", tensorboard=False)
    same, other = (same_run.compare_runs(tmp_path / "a", tmp_path / name) for name in ("b", "c"))
    assert [tuple(line.values()) for line in same] == [("train", 4, 4, 0.0, 6), ("heldout", 2, 2, 0.0, 6)]
    assert all(line["equal"] == 0 and line["apart"] > 0 for line in other)
    monkeypatch.setattr(sys, "argv", ["same_run", str(tmp_path / "a"), str(tmp_path / "b")])
    same_run.main()
    shown = "train: 4 lines in both, the last at step 6; 4 equal to every digit; at most 0.00% apart"
    assert capsys.readouterr().out.splitlines()[0] == shown

"""The task benchmarks run as their commands say."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks.tasks import jobs, vectors
from tests.tiny import make_bilm

from elmo.tasks.embedding.wordvectors import read_word_vectors
from elmo.text.tokenizer import Tokenizer
from elmo.weights.formats import write_model
from elmo.weights.loaded import LoadedModel

SAMPLES = Path(__file__).parent.parent / "tasks" / "samples"
SMALL = ("train.epochs=1", "task.model.hidden=6", "embedding.words.dim=6")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_model(LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer()), tmp_path / "bilm")
    return tmp_path / "bilm"


def test_runs_are_made_alike_in_one_process_and_in_several(model: Path, tmp_path: Path) -> None:
    train, dev = (str(SAMPLES / f"ner-{part}.txt") for part in ("train", "dev"))
    wanted = [
        jobs.Job("ner", arm, 1, 0.5, train, dev, dev, str(model), None, str(tmp_path / "cache"), "cpu", SMALL)
        for arm in ("baseline", "input", "top")
    ]
    one, two = (list(jobs.make_all(wanted, jobs.train, processes=n, deadline=None)) for n in (1, 2))
    assert {run["arm"] for run in one} == {"baseline", "input", "top"}
    kept = ("arm", "dev", "test", "mixes", "history", "given", "bilm")
    assert sorted(([r[name] for name in kept] for r in one), key=repr) == sorted(
        ([r[name] for name in kept] for r in two), key=repr
    )
    assert list(jobs.make_all(wanted, jobs.train, processes=2, deadline=0.0)) == []


def test_vectors_are_cut_to_the_words_of_the_files(tmp_path: Path) -> None:
    words = ["lisbon", "moved", "Tom", "zebra"]
    np.savez(tmp_path / "all.npz", words=np.array(words), vectors=np.ones((4, 3), np.float32))
    vectors.main([str(tmp_path / "all.npz"), "-o", str(tmp_path / "few.npz"), "--ner", str(SAMPLES / "ner-train.txt")])
    assert read_word_vectors(tmp_path / "few.npz").words == ["lisbon", "moved", "Tom"]

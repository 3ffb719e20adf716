"""What a run of each task tells: every score that the reports and the task pages have, and dev after each epoch."""

from pathlib import Path

import pytest
from tests.reproduce.conftest import SAMPLES

from elmo.reproduce.jobs import Sources, TaskJob
from elmo.reproduce.loading import hashes_of
from elmo.reproduce.making import make_run
from elmo.reproduce.settings import TaskData

FILES = {
    "entailment": ("pairs-train.jsonl", "pairs-dev.tsv"),
    "questions": ("questions-train.json", "questions-dev.json"),
    "roles": ("roles-train.txt", "roles-dev.txt"),
    "coreference": ("coreference-train.conll", "coreference-dev.conll"),
}
SCORES = {
    "entailment": {"accuracy"},
    "questions": {"f1", "exact_match"},
    "roles": {"f1", "precision", "recall", "verbs f1", "predicates f1"},
    "coreference": {"f1", "MUC f1", "B3 f1", "CEAF_phi4 f1", "mentions f1"},
}


@pytest.mark.parametrize("task", FILES)
def test_a_run_tells_all_its_scores(task: str, model: Path, tmp_path: Path) -> None:
    train, dev = FILES[task]
    data = TaskData(
        name=task, title=task, task=task, train=train, dev=dev, test=dev,  # type: ignore[arg-type]
        metric="accuracy" if task == "entailment" else "f1",
        set=("train.epochs=2", "train.batch_size=8", "task.model.hidden=6", "embedding.words.dim=6"),
    )  # fmt: skip
    sources = Sources(data=SAMPLES, model=str(model), vectors=None, cache=tmp_path / "cache", device="cpu")
    job = TaskJob(data=data, arm="baseline", seed=1)
    run = make_run(job, hashes_of(data, sources), sources, time_limit=None)
    assert run is not None
    assert run["dev"].keys() == run["test"].keys() == SCORES[task]
    assert run["test"] == run["dev"]  # the same file: what is told is of the best epoch's weights
    steps, scores = zip(*run["history"], strict=True)
    assert steps == (run["updates"] // 2, run["updates"])
    assert max(scores) == pytest.approx(run["dev"][data.metric], abs=1e-3)

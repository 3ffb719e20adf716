"""The task benchmarks run as their commands say, go on where they were stopped, and count gains rightly."""

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.tasks import campaign, jobs, layers, report, run, search, vectors
from tests.tiny import make_bilm

from elmo.tasks.embedding.wordvectors import read_word_vectors
from elmo.tasks.recipes import find_recipe
from elmo.text.tokenizer import Tokenizer
from elmo.weights.formats import write_model
from elmo.weights.loaded import LoadedModel

SAMPLES = Path(__file__).parent.parent / "tasks" / "samples"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_model(LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer()), tmp_path / "bilm")
    return tmp_path / "bilm"


def command(task: str, train: str, dev: str, model: Path, tmp_path: Path, *more: str, test: bool = True) -> list[str]:
    options = [
        "--model",
        str(model),
        "-o",
        str(tmp_path / "out"),
        "--cache",
        str(tmp_path / "cache"),
        "--device",
        "cpu",
    ]
    small = ["--set", "train.epochs=1", "--set", "task.model.hidden=6", "--set", "embedding.words.dim=6"]
    files = ["--train", str(SAMPLES / train), "--dev", str(SAMPLES / dev)]
    files += ["--test", str(SAMPLES / dev)] if test else []
    return [task, *files, *options, *small, *more]


def test_all_arms_and_seeds_are_run_and_told(model: Path, tmp_path: Path) -> None:
    run.main(command("ner", "ner-train.txt", "ner-dev.txt", model, tmp_path, "--seeds", "2", "--fractions", "0.5", "1"))
    results = report.read_results([tmp_path / "out" / "ner.jsonl"])
    assert {(r["arm"], r["seed"], r["fraction"]) for r in results} == {
        (arm, seed, fraction) for arm in jobs.USUAL_ARMS for seed in (1, 2) for fraction in (0.5, 1.0)
    }
    assert [len(r["mixes"]) for r in results if r["fraction"] == 1.0 and r["seed"] == 1] == [0, 1, 2, 1]
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        "ner.jsonl", "ner.md", "ner-scores.png", "ner-mixes.png", "ner-fractions.png",
    }  # fmt: skip
    assert "*the paper: with ELMo*" in (tmp_path / "out" / "ner.md").read_text("utf-8")


def test_less_data_has_more_epochs() -> None:
    ner = find_recipe("ner").changed({"train.epochs": 20, "train.patience": 5})
    assert jobs.longer(ner) == ner
    tenth = jobs.longer(ner.changed({"train.fraction": 0.01})).train
    assert (tenth.epochs, tenth.patience) == (200, 50)


def test_only_missing_runs_are_made(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = command("ner", "ner-train.txt", "ner-dev.txt", model, tmp_path, "--seeds", "1", "--arms", "baseline")
    run.main([*arguments, "--minutes", "0"])
    assert report.read_results([tmp_path / "out" / "ner.jsonl"]) == []
    run.main(arguments)

    def refuse(job: jobs.Job) -> None:
        raise AssertionError(f"made with {job.model}")

    monkeypatch.setattr(jobs, "train", refuse)
    run.main(arguments)
    with pytest.raises(AssertionError, match="made with another"):  # not found among the runs of the first model
        run.main([*arguments, "--model", "another"])


def test_several_processes_give_the_scores_of_one(model: Path, tmp_path: Path) -> None:
    arguments = command(
        "classification",
        "reviews-train.tsv",
        "reviews-dev.tsv",
        model,
        tmp_path,
        "--seeds",
        "1",
        "--arms",
        "input",
        "top",
    )
    run.main(arguments)
    one = report.read_results([tmp_path / "out" / "classification.jsonl"])
    (tmp_path / "out" / "classification.jsonl").unlink()
    run.main([*arguments, "--jobs", "2"])
    two = report.read_results([tmp_path / "out" / "classification.jsonl"])
    strip = ("arm", "seed", "dev", "test", "mixes", "best_epoch")
    assert sorted([r[k] for k in strip] for r in one) == sorted([r[k] for k in strip] for r in two)


def test_a_search_tries_all_settings_for_each_arm_and_never_the_test_set(model: Path, tmp_path: Path) -> None:
    grid = ["--grid", "train.learning_rate=0.000001,0.02", "--grid", "task.model.dropout=0.0,0.5", "--seeds", "2"]
    small = ["--set", "train.epochs=8"]
    arguments = command("pos", "pos-train.conllu", "pos-train.conllu", model, tmp_path, *small, *grid, test=False)
    search.main(arguments)
    results = report.read_results([tmp_path / "out" / "pos-search.jsonl"])
    assert len(results) == 2 * 2 * 2 * 2
    assert all(r["test"] is None for r in results)
    chosen = json.loads((tmp_path / "out" / "pos-search.json").read_text("utf-8"))
    assert set(chosen) == {"baseline", "input"}
    # Nothing is learned at the other rate.
    assert all("train.learning_rate=0.02" in setting for setting in chosen.values())
    lines = (tmp_path / "out" / "pos-search.md").read_text("utf-8").splitlines()
    assert "| train.learning_rate | task.model.dropout | baseline | input |" in lines
    assert sum("**" in line for line in lines) in (1, 2)


def test_the_best_setting_is_the_one_with_the_best_mean() -> None:
    scores = {"a=1": (50.0, 60.0), "a=2": (54.0, 57.0), "a=3": (59.0,)}
    results = [
        {"arm": "input", "metric": "f1", "dev": {"f1": score}, "given": ["files", setting]}
        for setting, found in scores.items()
        for score in found
    ]
    settings = search.combinations(["a=1,2,3,4"])
    assert search.best(results, settings, "input") == ("a=3",)
    assert search.best(results[:-1], settings, "input") == ("a=2",)
    assert search.best(results, settings, "baseline") is None
    text = search.table(results, settings, ["input"], command="this")
    assert "| 2 | 55.50 (54.00, 57.00) |" in text
    assert "| 3 | **59.00** |" in text


def test_gains_and_error_reductions_are_counted_from_the_means() -> None:
    results = [
        {"arm": arm, "seed": seed, "fraction": 1.0, "metric": "f1", "dev": {"f1": 50.0}, "test": {"f1": score},
         "best_epoch": 1, "epoch_seconds": 1.0, "mixes": {}}
        for arm, scores in (("baseline", (79.0, 81.0)), ("input", (84.0, 86.0)))
        for seed, score in enumerate(scores)
    ]  # fmt: skip
    text = report.table(results, "ner", command="this")
    assert "| ELMo at the input | 0, 1 | 50.00 ± 0.00 | 85.00 ± 1.41 | +5.00 | 25.0 % |" in text
    assert "| *the paper: with ELMo* | | | 92.22 | +2.07 | 21.0 % | | |" in text


def test_layers_are_told_beside_the_papers(model: Path, tmp_path: Path) -> None:
    layers.main(
        [
            "--model", str(model), "-o", str(tmp_path / "out"), "--device", "cpu", "--epochs", "1", "--seeds", "2",
            "--semcor", str(SAMPLES / "senses-train.data.xml"), "--index-sense", str(SAMPLES / "index.sense"),
            "--senses", str(SAMPLES / "senses-test.data.xml"), "--pos-train", str(SAMPLES / "pos-train.conllu"),
            "--pos-dev", str(SAMPLES / "pos-dev.conllu"), "--pos-test", str(SAMPLES / "pos-dev.conllu"),
        ]
    )  # fmt: skip
    found = json.loads((tmp_path / "out" / "layers.json").read_text("utf-8"))
    assert len(found["senses"][0]["layers"]) == 3
    assert len(found["tags"]) == 2
    assert "Word senses" in (tmp_path / "out" / "layers.md").read_text("utf-8")


def test_vectors_are_cut_to_the_words_of_the_files(tmp_path: Path) -> None:
    words = ["lisbon", "moved", "Tom", "zebra"]
    np.savez(tmp_path / "all.npz", words=np.array(words), vectors=np.ones((4, 3), np.float32))
    vectors.main([str(tmp_path / "all.npz"), "-o", str(tmp_path / "few.npz"), "--ner", str(SAMPLES / "ner-train.txt")])
    assert read_word_vectors(tmp_path / "few.npz").words == ["lisbon", "moved", "Tom"]


@pytest.mark.parametrize(
    ("task", "train", "dev"),
    [
        ("entailment", "pairs-train.jsonl", "pairs-dev.tsv"),
        ("questions", "questions-train.json", "questions-dev.json"),
    ],
)
def test_a_campaign_makes_every_arm_with_options_tuned_on_dev(
    task: str, train: str, dev: str, model: Path, tmp_path: Path
) -> None:
    np.savez(tmp_path / "v.npz", words=np.array(["the", "river"]), vectors=np.ones((2, 6), np.float32))
    arguments = [
        task, "--train", str(SAMPLES / train), "--dev", str(SAMPLES / dev), "--test", str(SAMPLES / dev),
        "--model", str(model), "--vectors", str(tmp_path / "v.npz"), "-o", str(tmp_path / "out"),
        "--cache", str(tmp_path / "cache"), "--device", "cpu", "--seeds", "1", "--tiny",
    ]  # fmt: skip
    campaign.main(arguments)
    results = report.read_results([tmp_path / "out" / f"{task}.jsonl"])
    whole = [r for r in results if r["fraction"] == 1.0]
    assert sorted(r["arm"] for r in whole) == sorted(jobs.ARMS)
    assert sorted(r["arm"] for r in results if r["fraction"] < 1) == ["baseline", "input"]
    bilms = {r["arm"]: r["bilm"] for r in whole}
    assert bilms["baseline"] is None
    assert bilms["tuned"] != bilms["input"] == bilms["output"]
    told = (tmp_path / "out" / f"{task}.md").read_text("utf-8")
    assert "biLM tuned on the task's text" in told
    assert ("the paper: baseline, all 549,367 pairs" in told) == (task == "entailment")
    assert {p.name for p in (tmp_path / "out").iterdir()} >= {f"{task}-search.md", f"{task}-vectors.npz"}
    campaign.main(arguments)  # nothing is missing any more
    assert report.read_results([tmp_path / "out" / f"{task}.jsonl"]) == results


def test_updates_are_counted_until_the_baseline_is_passed() -> None:
    history = [(10, 50.0), (20, 61.0), (30, 62.0)]
    assert report.passed_after(history, 60.0) == 20
    assert report.passed_after(history, 62.0) is None
    common = {"fraction": 1.0, "metric": "f1", "mixes": {}, "best_epoch": 1, "epoch_seconds": 1.0, "given": []}
    results = [
        {
            **common,
            "arm": arm,
            "seed": 1,
            "dev": {"f1": dev, "verbs f1": 69.0},
            "test": {"f1": dev, "verbs f1": 70.0},
            "history": past,
        }
        for arm, dev, past in (("baseline", 60.0, [(30, 60.0)]), ("input", 62.0, history))
    ]
    told = report.table(results, "roles", command="c")
    assert "ELMo at the input: the baseline's best dev score is passed after 20 of 30 updates (1 of 1 seeds)" in told
    assert "(verbs f1 70.00)" in told
    assert "OntoNotes, which is not free" in told


@pytest.mark.parametrize(("name", "suffix"), [("roles", "txt"), ("coreference", "conll")])
def test_the_campaign_of_a_structured_task_runs_in_tiny(name: str, suffix: str, model: Path, tmp_path: Path) -> None:
    if name == "coreference":
        pytest.importorskip("scipy", reason="the extra `tasks` is not installed")
    train, dev = (str(SAMPLES / f"{name}-{part}.{suffix}") for part in ("train", "dev"))
    options = ["--model", str(model), "-o", str(tmp_path / "out"), "--cache", str(tmp_path / "cache")]
    options += ["--device", "cpu", "--seeds", "1", "--tiny", "--skip-tuned"]
    campaign.main([name, "--train", train, "--dev", dev, "--test", dev, *options])
    results = report.read_results([tmp_path / "out" / f"{name}.jsonl"])
    assert {(r["arm"], r["fraction"]) for r in results} == {
        *((arm, 1.0) for arm in jobs.ARMS if arm != "tuned"), ("baseline", 0.5), ("input", 0.5),
    }  # fmt: skip
    assert all(len(r["history"]) == r["epochs"] for r in results)

"""Runs made, told and never made twice; one that is stopped goes on."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from tests.reproduce.conftest import SAMPLES

from elmo.reproduce import making, queue
from elmo.reproduce.jobs import Sources, TaskJob
from elmo.reproduce.queue import RunQueue, make_missing
from elmo.reproduce.runs import RunFile, read_runs
from elmo.reproduce.settings import AnyData, TaskData

ALL = ["table1", "table2", "table3", "table5", "table6", "figure1"]


@pytest.fixture
def sources(model: Path, tmp_path: Path) -> Sources:
    return Sources(data=SAMPLES, model=str(model), vectors=None, cache=tmp_path / "cache", device="cpu")


def made(
    settings: dict[str, AnyData], names: list[str], sources: Sources, out: Path, *, processes: int = 1, **more: Any
) -> RunQueue:
    found = RunQueue(settings, names, read_runs([out]), sources, seeds=1)
    make_missing(found, RunFile(out), processes=processes, **{"minutes": None, **more})
    return found


def test_everything_is_made_after_the_search_and_never_again(
    settings: dict[str, AnyData], sources: Sources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "runs"
    first = made(settings, ALL, sources, out)
    assert first.problems == []
    assert first.missing() == []
    runs = read_runs([out])
    assert {run["kind"] for run in runs} == {"search", "task", "senses", "probe"}
    searched = [run for run in runs if run["kind"] == "search"]
    assert len(searched) == 4
    assert all(run["test"] is None and "test" not in run["files"] for run in searched)
    tasks = {(run["arm"], run["fraction"]): run for run in runs if run["kind"] == "task"}
    whole = {(arm, 1.0) for arm in ("baseline", "input", "both", "output", "top", "lambda 1")}
    assert tasks.keys() == {*whole, ("baseline", 0.5), ("input", 0.5)}  # lambda 0.001 is `input`
    run = tasks["both", 1.0]
    assert run["mixes"].keys() == {"input", "output"}
    assert run["history"] == [[run["updates"], pytest.approx(run["dev"]["f1"], abs=1e-3)]]
    assert run["elmo"] == {"where": "both", "layers": "all", "mix_l2": 0.001}
    assert tasks["baseline", 1.0]["mixes"] == {}
    assert list((sources.cache / "runs").iterdir()) == []

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(queue, "make_run", refuse)
    made(settings, ALL, sources, out)
    assert read_runs([out]) == runs


def test_a_search_counts_for_the_very_points_and_options_that_it_tried(
    settings: dict[str, AnyData], sources: Sources, tmp_path: Path
) -> None:
    out = tmp_path / "runs"
    made(settings, ["table1"], sources, out)
    runs = read_runs([out])
    same = RunQueue(settings, ["table1"], runs, sources, seeds=1)
    assert {run["key"] for run in same.wanted_runs()} == {run["key"] for run in runs}  # the search is in the report
    names = settings["names"]
    assert isinstance(names, TaskData)
    for other in (
        dataclasses.replace(names, grid=("train.learning_rate=0.02,0.03",)),
        dataclasses.replace(names, set=(*names.set, "train.batch_size=2")),
    ):
        queue = RunQueue({"names": other}, ["table1"], runs, sources, seeds=1)
        assert queue.chosen == {"names": None}
        assert len(queue.missing()) == 4
    pinned = dataclasses.replace(names, baseline=(), elmo=())
    assert RunQueue({"names": pinned}, ["table1"], runs, sources, seeds=1).wanted_runs() == []


def test_several_processes_give_the_scores_of_one(
    settings: dict[str, AnyData], sources: Sources, tmp_path: Path
) -> None:
    for processes in (1, 2):
        made(settings, ["table1"], sources, tmp_path / str(processes), processes=processes)
    one, two = ({run["key"]: run for run in read_runs([tmp_path / str(n)])} for n in (1, 2))
    assert len(one) == 6
    assert one.keys() == two.keys()
    for key, run in one.items():
        assert {name: run[name] for name in ("dev", "test", "mixes", "history")} == {
            name: two[key][name] for name in ("dev", "test", "mixes", "history")
        }


def test_a_run_that_is_stopped_goes_on_and_ends_as_if_it_had_not_been(
    settings: dict[str, AnyData], sources: Sources
) -> None:
    job = TaskJob(data=settings["names"], arm="input", seed=1, point=("train.epochs=3",))  # type: ignore[arg-type]
    hashes = RunQueue(settings, ["table1"], [], sources, seeds=1).hashes["names"]
    whole = making.make_run(job, hashes, sources, time_limit=None)
    making.forget(job, hashes, sources)
    assert making.make_run(job, hashes, sources, time_limit=0.0) is None
    assert (making.run_folder(job, hashes, sources) / "checkpoint").is_dir()
    again = making.make_run(job, hashes, sources, time_limit=None)
    assert whole is not None
    assert again is not None
    assert {name: again[name] for name in ("dev", "test", "history")} == {
        name: whole[name] for name in ("dev", "test", "history")
    }
    told = making.make_run(job, hashes, sources, time_limit=None)  # finished, but not told: nothing is trained
    assert told is not None
    assert told["test"] == whole["test"]


def test_what_fits_into_the_time_left_is_taken_first(settings: dict[str, AnyData], sources: Sources) -> None:
    found = RunQueue(settings, ["table1", "table6"], [], sources, seeds=1)
    assert isinstance(found.take(3.0), TaskJob)  # nothing fits: the first, which will be gone on with
    assert isinstance(found.take(10.0), TaskJob)  # the search, 6 seconds by the settings
    assert [str(found.take(None)) for _ in range(3)] == [
        "names: baseline seed 1 search train.learning_rate=0.01",
        "names: input seed 1 search train.learning_rate=0.01",
        "tags: seed 1",
    ]
    assert found.take(None) is None


def test_a_run_longer_than_a_whole_call_keeps_its_place(settings: dict[str, AnyData], sources: Sources) -> None:
    found = RunQueue(settings, ["table1", "table6"], [], sources, seeds=1)
    assert found.seconds(found.missing()[0]) == 6.0
    first = found.take(3.0, whole=5.0)
    assert str(first) == "names: baseline seed 1 search train.learning_rate=0.000001"
    quick = dataclasses.replace(settings["tags"], minutes=0.01)  # type: ignore[type-var]
    found = RunQueue({**settings, "tags": quick}, ["table1", "table6"], [], sources, seeds=1)
    assert str(found.take(3.0, whole=60.0)) == "tags: seed 1"  # the search would fit into another call


def test_what_a_stopped_run_has_behind_it_counts(settings: dict[str, AnyData], sources: Sources) -> None:
    data = dataclasses.replace(settings["names"], minutes=2.0, baseline=(), elmo=())  # type: ignore[call-arg]
    point = ("train.epochs=4", "train.checkpoint_minutes=0")
    data = dataclasses.replace(data, baseline=point, elmo=point)
    found = RunQueue({"names": data}, ["table1"], [], sources, seeds=1)
    job = found.missing()[0]
    assert found.seconds(job) == 120.0
    folder = making.run_folder(job, found.hashes["names"], sources) / "checkpoint"
    folder.mkdir(parents=True)
    (folder / "progress.json").write_text('{"epoch": 3, "seconds": 90.0}', encoding="utf-8")
    assert found.seconds(job) == 30.0
    assert found.take(60.0) == job  # and not another that would take 120 seconds
    (folder / "progress.json").write_text("{", encoding="utf-8")
    assert found.seconds(job) == 120.0


def test_a_run_made_in_two_calls_took_what_both_took(settings: dict[str, AnyData], sources: Sources) -> None:
    job = TaskJob(data=settings["names"], arm="input", seed=1, point=("train.epochs=3",))  # type: ignore[arg-type]
    hashes = RunQueue(settings, ["table1"], [], sources, seeds=1).hashes["names"]
    assert making.make_run(job, hashes, sources, time_limit=0.0) is None
    path = making.run_folder(job, hashes, sources) / "checkpoint" / "progress.json"
    saved = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**saved, "seconds": 500.0}), encoding="utf-8")
    told = making.make_run(job, hashes, sources, time_limit=None)
    assert told is not None
    assert 500.0 <= told["training_seconds"] <= told["seconds"]


def test_runs_with_other_options_do_not_say_what_a_run_takes(settings: dict[str, AnyData], sources: Sources) -> None:
    data = dataclasses.replace(settings["names"], baseline=(), elmo=())  # type: ignore[call-arg]
    first = RunQueue({"names": data}, ["table1"], [], sources, seeds=1)
    job = first.missing()[0]
    run = making.make_run(job, first.hashes["names"], sources, time_limit=None)
    assert run is not None
    run["seconds"] = 77.0
    assert RunQueue({"names": data}, ["table1"], [run], sources, seeds=2).seconds(job) == 77.0
    longer = dataclasses.replace(data, set=(*data.set, "train.epochs=9"), minutes=3.0)
    found = RunQueue({"names": longer}, ["table1"], [run], sources, seeds=2)
    assert {found.seconds(job) for job in found.missing()} == {180.0}


def test_a_job_that_fails_is_told_and_leaves_the_others(
    settings: dict[str, AnyData], sources: Sources, tmp_path: Path
) -> None:
    found = made(settings, ["table6", "table7"], sources, tmp_path / "runs")
    assert [problem.split(":")[0] for problem in found.problems] == ["names"]
    assert "20 are the fewest" in found.problems[0]
    assert {run["kind"] for run in read_runs([tmp_path / "runs"])} == {"search", "task", "probe"}


def test_a_reason_that_several_runs_share_is_told_once(
    settings: dict[str, AnyData],
    sources: Sources,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    for name in ("ner-train.txt", "ner-dev.txt"):
        text = (SAMPLES / name).read_text("utf-8")
        (tmp_path / name).write_text("a b c d\ne f\n" if name == "ner-train.txt" else text, encoding="utf-8")
    data = dataclasses.replace(settings["names"], baseline=(), elmo=())  # type: ignore[call-arg]
    found = made({"names": data}, ["table1"], dataclasses.replace(sources, data=tmp_path), tmp_path / "runs")
    assert [problem.partition(f": {tmp_path}")[0] for problem in found.problems] == [
        "names: baseline seed 1 and 1 more"
    ]
    assert len(caplog.records) == 1
    assert "2 runs are missing; the same command makes them, once what failed is mended" in capsys.readouterr().out

"""Which runs are made, in which order, and under which name."""

import dataclasses

import pytest
from tests.reproduce.conftest import SAMPLES

from elmo.reproduce.arms import ARMS
from elmo.reproduce.choosing import chosen_lines, chosen_options
from elmo.reproduce.jobs import Hashes, ProbeJob, SenseJob, Sources, TaskJob, job_key, longer, recipe_of
from elmo.reproduce.loading import FEWEST, load_examples
from elmo.reproduce.order import ordered_jobs, search_jobs
from elmo.reproduce.settings import AnyData, TaskData
from elmo.tasks.recipes import find_recipe

USUAL = ("baseline", "lambda 0.001")
ALL = ["table1", "table2", "table3", "table5", "table6", "table7", "figure1", "figure2"]


@pytest.fixture
def names(settings: dict[str, AnyData]) -> TaskData:
    found = settings["names"]
    assert isinstance(found, TaskData)
    return found


def test_table_1_comes_first_seed_by_seed(settings: dict[str, AnyData], names: TaskData) -> None:
    other = dataclasses.replace(names, name="other", minutes=3.0, paper=None, fractions=(), seeds=1)
    sets = [names, other, settings["tags"], settings["wsd"]]
    chosen = {"names": ((), ("train.learning_rate=0.01",)), "other": ((), ())}
    jobs = ordered_jobs(sets, ALL, chosen, seeds=5)
    told = [
        (job.data.name, job.arm, job.seed, job.fraction) if isinstance(job, TaskJob) else job.data.name for job in jobs
    ]
    assert told[:4] == [
        ("other", "baseline", 1, 1.0), ("other", "input", 1, 1.0), ("names", "baseline", 1, 1.0),
        ("names", "input", 1, 1.0),
    ]  # fmt: skip
    assert told[4:10] == [*["tags"] * 5, "wsd"]
    assert told[10:12] == [("names", arm, 1, 0.5) for arm in ("baseline", "input")]
    assert told[12:14] == [("names", "baseline", 2, 1.0), ("names", "input", 2, 1.0)]
    assert told[14:15] == [("names", "tuned", 1, 1.0)]
    assert told[15:19] == [("names", arm, 1, 1.0) for arm in ("both", "output", "top", "lambda 1")]
    assert told[19:] == [
        *(("names", arm, 2, 0.5) for arm in ("baseline", "input")),
        *(("names", arm, 2, 1.0) for arm in ("both", "output", "top", "lambda 1")),
        ("other", "tuned", 1, 1.0), ("names", "tuned", 2, 1.0),
    ]  # fmt: skip
    assert len(set(jobs)) == len(jobs)
    # The recipe's lambda is 0.001, so that such runs are those of `input`.
    points = {(job.arm, job.point) for job in jobs if isinstance(job, TaskJob) and job.data is names}
    assert points == {("baseline", ()), *((arm, ("train.learning_rate=0.01",)) for arm in ARMS if arm not in USUAL)}


def test_only_what_is_wanted_is_made(settings: dict[str, AnyData]) -> None:
    chosen = {"names": ((), ())}
    jobs = ordered_jobs(settings.values(), ["table1"], chosen, seeds=1)
    assert [job.arm for job in jobs if isinstance(job, TaskJob)] == ["baseline", "input"]
    assert len(jobs) == 2
    jobs = ordered_jobs(settings.values(), ["table5", "table6"], chosen, seeds=2)
    assert [type(job) for job in jobs] == [ProbeJob, ProbeJob, SenseJob]


def test_a_data_set_without_chosen_options_is_searched_on_dev_first(
    settings: dict[str, AnyData], names: TaskData
) -> None:
    assert chosen_options(names, [], again=False) is None
    jobs = ordered_jobs(settings.values(), ["table1"], {"names": None}, seeds=3)
    assert jobs == search_jobs(names)
    assert [(job.arm, job.point[0][-4:]) for job in search_jobs(names)] == [
        ("baseline", "0001"), ("input", "0001"), ("baseline", "0.01"), ("input", "0.01"),
    ]  # fmt: skip
    runs = [
        {"kind": "search", "set": "names", "arm": job.arm, "point": list(job.point), "metric": "f1", "dev": {"f1": f1}}
        for job, f1 in zip(search_jobs(names), (50.0, 60.0, 51.0, 59.0), strict=True)
    ]
    assert chosen_options(names, runs[:3], again=False) is None
    found = chosen_options(names, runs, again=False)
    assert found == (("train.learning_rate=0.01",), ("train.learning_rate=0.000001",))
    assert chosen_lines("names", found).splitlines()[1] == 'baseline = ["train.learning_rate=0.01"]'
    pinned = dataclasses.replace(names, baseline=(), elmo=())
    assert chosen_options(pinned, runs, again=False) == ((), ())
    assert chosen_options(pinned, runs, again=True) == found
    assert chosen_options(dataclasses.replace(names, grid=()), [], again=True) == ((), ())


HASHES = Hashes(files={"ner-train.txt": "1", "ner-dev.txt": "2"}, model="3", vectors=None)


def test_equal_runs_have_equal_names_and_others_not(names: TaskData) -> None:
    job = TaskJob(data=names, arm="input", seed=1)
    key = job_key(job, HASHES)
    # The recipe's lambda is 0.001 already.
    assert job_key(TaskJob(data=names, arm="lambda 0.001", seed=1), HASHES) == key
    same = dataclasses.replace(names, title="another", minutes=9.0, set=(*names.set, "train.checkpoint_minutes=1"))
    assert job_key(dataclasses.replace(job, data=same), HASHES) == key
    others = [
        dataclasses.replace(job, seed=2),
        dataclasses.replace(job, arm="both"),
        dataclasses.replace(job, arm="tuned"),
        dataclasses.replace(job, fraction=0.5),
        dataclasses.replace(job, point=("train.learning_rate=0.01",)),
        dataclasses.replace(job, searches=True),
    ]
    keys = [job_key(other, HASHES) for other in others]
    assert len({key, *keys}) == 1 + len(others)
    for changed in ({"files": {**HASHES.files, "ner-dev.txt": "4"}}, {"model": "4"}, {"vectors": "4"}):
        assert job_key(job, dataclasses.replace(HASHES, **changed)) != key
    baseline = dataclasses.replace(job, arm="baseline")
    assert job_key(baseline, HASHES) == job_key(baseline, dataclasses.replace(HASHES, model="4"))


def test_less_data_has_more_epochs_and_takes_less_time(names: TaskData) -> None:
    ner = find_recipe("ner").changed({"train.epochs": 20, "train.patience": 5})
    assert longer(ner) == ner
    tenth = longer(ner.changed({"train.fraction": 0.01})).train
    assert (tenth.epochs, tenth.patience) == (200, 50)
    job = TaskJob(data=names, arm="input", seed=1, fraction=0.25)
    assert recipe_of(job).train.epochs == 2
    assert job.minutes == names.minutes / 2


def test_the_forms_of_the_paper_s_own_tables_come_before_those_of_other_tasks(names: TaskData) -> None:
    snli = dataclasses.replace(names, name="pairs", paper="snli", fractions=(), minutes=1.0)
    jobs = ordered_jobs([names, snli], ["table3"], {"names": ((), ()), "pairs": ((), ())}, seeds=1)
    assert [(job.data.name, job.arm) for job in jobs if isinstance(job, TaskJob)] == [
        ("pairs", "input"), ("names", "input"), ("pairs", "both"), ("pairs", "output"), ("names", "both"),
        ("names", "output"),
    ]  # fmt: skip


def test_of_other_forms_those_that_take_least_come_first(names: TaskData) -> None:
    long = dataclasses.replace(names, name="long", paper="coref", fractions=(), minutes=9.0)
    jobs = ordered_jobs([names, long], ["table3"], {"names": ((), ()), "long": ((), ())}, seeds=1)
    assert [(job.data.name, job.arm) for job in jobs if isinstance(job, TaskJob)] == [
        ("long", "input"), ("names", "input"), ("names", "both"), ("names", "output"), ("long", "both"),
        ("long", "output"),
    ]  # fmt: skip


def test_what_is_to_be_quick_reads_a_tenth_and_is_a_run_of_its_own(names: TaskData) -> None:
    jobs = ordered_jobs([names], ["table1"], {"names": ((), ())}, seeds=1, quick=True)
    assert [(job.arm, job.fraction, job.quick) for job in jobs if isinstance(job, TaskJob)] == [
        ("baseline", 0.1, True), ("input", 0.1, True),
    ]  # fmt: skip
    job = jobs[1]
    assert isinstance(job, TaskJob)
    assert recipe_of(job).train.epochs == recipe_of(dataclasses.replace(job, fraction=1.0, quick=False)).train.epochs
    assert job_key(job, HASHES) != job_key(dataclasses.replace(job, quick=False), HASHES)
    sources = Sources(data=SAMPLES, model="", vectors=None, cache=SAMPLES, device="cpu")
    whole = load_examples(dataclasses.replace(job, quick=False), "dev", sources)
    assert load_examples(job, "dev", sources) == whole[:FEWEST]
    assert load_examples(job, "train", sources) == load_examples(
        dataclasses.replace(job, quick=False), "train", sources
    )

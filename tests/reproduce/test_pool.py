"""Jobs in processes: all of them made, one that fails or dies is told, the deadline is kept."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elmo.errors import InputError
from elmo.reproduce import pool
from elmo.reproduce.pool import work


def taking(jobs: list[str]) -> Callable[[float | None], str | None]:
    waiting = list(jobs)
    return lambda _left: waiting.pop(0) if waiting else None


def make(job: str, left: float | None) -> dict[str, Any] | None:
    if job == "fails":
        raise InputError("there is no such thing")
    if job == "dies":
        os._exit(3)
    if job == "stopped":
        return None
    if job == "stopped where nothing is saved":
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
    if job == "waits":
        time.sleep(max(0.0, min(60.0, left or 0.0)))
        return None
    return {"job": job, "process": os.getpid()}


@pytest.mark.parametrize("processes", [1, 2])
def test_all_jobs_are_made(processes: int) -> None:
    found = list(work(taking(["a", "fails", "b", "c"]), make, processes=processes, minutes=None, device="cpu"))
    assert sorted(o.made["job"] for o in found if o.made) == ["a", "b", "c"]
    assert [(o.job, o.problem) for o in found if o.problem] == [("fails", "there is no such thing")]
    own = {o.made["process"] for o in found if o.made}
    assert own == {os.getpid()} if processes == 1 else len(own) == 3 and os.getpid() not in own


def test_one_that_is_told_to_stop_ends_them_all_and_a_mistake_none() -> None:
    def one(job: str, _left: float | None) -> dict[str, Any] | None:
        if job == "mistake":
            raise RuntimeError("out of memory")
        return None if job == "stopped" else {"job": job}

    found = list(work(taking(["mistake", "a", "stopped", "b"]), one, processes=1, minutes=None))
    assert [(o.job, o.made is None) for o in found] == [("mistake", True), ("a", False), ("stopped", True)]
    assert found[0].problem is not None
    assert found[0].problem.endswith("RuntimeError: out of memory\n")


@pytest.mark.parametrize("first", ["stopped", "stopped where nothing is saved"])
def test_a_process_that_is_told_to_stop_ends_the_others_too(first: str) -> None:
    jobs = [first, "waits", "a", "b"]
    began = time.monotonic()
    found = list(work(taking(jobs), make, processes=2, minutes=10, device="cpu"))
    assert [(o.job, o.made, o.problem) for o in found] == [(first, None, None)]
    assert time.monotonic() - began < 60  # `waits` was ended


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_that_is_told_to_stop_as_it_begins_does_not_go_on_as_its_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent, fork = os.getpid(), os.fork
    begun = iter([False, False, True])  # the trial and the first job begin at once, the second one late

    def forked() -> int:
        late, child = next(begun), fork()
        if child == 0 and late:
            time.sleep(2)
        return child

    monkeypatch.setattr(os, "fork", forked)
    try:
        list(work(taking(["stopped", "waits"]), make, processes=2, minutes=10, device="cpu"))
    finally:
        (tmp_path / str(os.getpid())).touch()
        if os.getpid() != parent:
            os._exit(1)
    assert [path.name for path in tmp_path.iterdir()] == [str(parent)]


def test_a_process_that_dies_is_told_and_the_others_go_on() -> None:
    found = {o.job: o for o in work(taking(["dies", "a"]), make, processes=2, minutes=None, device="cpu")}
    assert found["dies"].problem == "its process ended with status 3"
    assert found["a"].made is not None


@pytest.mark.parametrize("processes", [1, 2])
def test_nothing_is_begun_after_the_deadline(processes: int) -> None:
    found = list(work(taking(["waits", "waits", "waits"]), make, processes=processes, minutes=0.02, device="cpu"))
    # On a busy machine the time may be over before the second process has begun.
    assert len(found) <= processes
    assert {(o.made, o.problem) for o in found} <= {(None, None)}
    assert list(work(taking(["a"]), make, processes=processes, minutes=0.0, device="cpu")) == []


def test_processes_that_are_not_forked_do_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_context", lambda _device: multiprocessing.get_context("spawn"))
    found = {o.job: o for o in work(taking(["a", "fails"]), make, processes=2, minutes=None, device="cpu")}
    assert found["a"].made is not None
    assert found["fails"].problem == "there is no such thing"


LONG = """
import os, signal, sys, time
from elmo.reproduce.pool import work

def make(job, left):
    try:
        open(sys.argv[1] + job, "w").write(str(os.getpid()))
        time.sleep(600)
    except KeyboardInterrupt:
        open(sys.argv[1] + job + "-saved", "w").close()

jobs = ["a", "b"]
list(work(lambda left: jobs.pop() if jobs else None, make, processes=2, minutes=None, device="cpu"))
"""


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGKILL])
def test_processes_save_and_end_with_the_one_that_began_them(signal_number: int, tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", LONG, f"{tmp_path}/"], stderr=subprocess.DEVNULL) as process:
        wait_for(lambda: all((tmp_path / name).is_file() and (tmp_path / name).read_text() for name in "ab"))
        process.send_signal(signal_number)
    children = [int((tmp_path / name).read_text()) for name in "ab"]
    wait_for(lambda: all((tmp_path / f"{name}-saved").is_file() for name in "ab"))
    wait_for(lambda: not any(map(is_alive, children)))


def wait_for(condition: Callable[[], bool]) -> None:
    last = time.monotonic() + 600  # against a hang alone
    while not condition():
        assert time.monotonic() < last
        time.sleep(0.05)


def is_alive(process: int) -> bool:
    """A process that nobody has waited for yet is a zombie, which is not alive."""
    status = Path(f"/proc/{process}/stat")
    return status.is_file() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_job_that_cannot_be_begun_yet_is_asked_for_again() -> None:
    answers = iter(["a", None, "b", None])
    found = [o.job for o in work(lambda _left: next(answers, None), make, processes=2, minutes=None, device="cpu")]
    assert found == ["a", "b"]

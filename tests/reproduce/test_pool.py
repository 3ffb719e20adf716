"""Jobs in processes: all of them made, one that fails or dies is told, the deadline is kept."""

import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from elmo.errors import InputError
from elmo.reproduce.pool import work


def taking(jobs: list[str]) -> Callable[[float | None], str | None]:
    waiting = list(jobs)
    return lambda _left: waiting.pop(0) if waiting else None


def make(job: str, left: float | None) -> dict[str, Any] | None:
    if job == "fails":
        raise InputError("there is no such thing")
    if job == "dies":
        os._exit(3)
    if job == "waits":
        time.sleep(min(60.0, left or 0.0))
        return None
    return {"job": job, "process": os.getpid()}


@pytest.mark.parametrize("processes", [1, 2])
def test_all_jobs_are_made(processes: int) -> None:
    found = list(work(taking(["a", "fails", "b", "c"]), make, processes=processes, minutes=None, device="cpu"))
    assert sorted(o.made["job"] for o in found if o.made) == ["a", "b", "c"]
    assert [(o.job, o.problem) for o in found if o.problem] == [("fails", "there is no such thing")]
    own = {o.made["process"] for o in found if o.made}
    assert own == {os.getpid()} if processes == 1 else len(own) == 3 and os.getpid() not in own


def test_a_process_that_dies_is_told_and_the_others_go_on() -> None:
    found = {o.job: o for o in work(taking(["dies", "a"]), make, processes=2, minutes=None, device="cpu")}
    assert found["dies"].problem == "its process ended with status 3"
    assert found["a"].made is not None


@pytest.mark.parametrize("processes", [1, 2])
def test_nothing_is_begun_after_the_deadline(processes: int) -> None:
    found = list(work(taking(["waits", "waits", "waits"]), make, processes=processes, minutes=0.02, device="cpu"))
    assert [(o.made, o.problem) for o in found] == [(None, None)] * processes
    assert list(work(taking(["a"]), make, processes=processes, minutes=0.0, device="cpu")) == []


def test_a_job_that_cannot_be_begun_yet_is_asked_for_again() -> None:
    answers = iter(["a", None, "b", None])
    found = [o.job for o in work(lambda _left: next(answers, None), make, processes=2, minutes=None, device="cpu")]
    assert found == ["a", "b"]

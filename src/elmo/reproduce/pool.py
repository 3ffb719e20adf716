"""Jobs in several processes until a deadline: each in one of its own, begun when another ends.

Processes are forked where they can be, so that what was read before is there for all of them and takes memory once. A
process that has used CUDA must not be forked; `elmo.reproduce` reads, and never computes, in the one that forks.
"""

import gc
import multiprocessing
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

import torch

from elmo.errors import ElmoError

J = TypeVar("J")
Make = Callable[[J, float | None], dict[str, Any] | None]

GRACE = 45.0  # seconds after the deadline for a process to save and end by itself
POLL = 1.0


@dataclass(frozen=True)
class Outcome(Generic[J]):
    """What became of a job: its result, or why there is none; neither where its time was over."""

    job: J
    made: dict[str, Any] | None = None
    problem: str | None = None


def work(
    take: Callable[[float | None], J | None],
    make: Make[J],
    *,
    processes: int,
    minutes: float | None,
    device: str | None = None,
) -> Iterator[Outcome[J]]:
    """What comes of all jobs that `take` gives: it is told the seconds that are left, and gives None if there is none.

    `make` gets a job and its seconds. It must be a function of a module, or a partial one, to be found by a process.
    """
    deadline = None if minutes is None else time.monotonic() + 60 * minutes
    if processes == 1:
        yield from _alone(take, make, deadline)
        return
    context = _context(device)
    running: dict[Connection, tuple[Any, J]] = {}
    try:
        while True:
            while len(running) < processes and not _is_late(deadline):
                job = take(_left(deadline))
                if job is None:
                    break
                ours, theirs = context.Pipe(duplex=False)
                gc.freeze()  # a collection in a forked process would copy every page
                process = context.Process(target=_run, args=(theirs, make, job, deadline), daemon=False)
                process.start()
                theirs.close()
                running[ours] = (process, job)
            if not running:
                return
            for connection in wait(list(running), timeout=POLL):
                assert isinstance(connection, Connection)
                yield _outcome(connection, *running.pop(connection))
            if deadline is not None and time.monotonic() > deadline + GRACE:
                return
    finally:
        _end(running)


def _alone(take: Callable[[float | None], J | None], make: Make[J], deadline: float | None) -> Iterator[Outcome[J]]:
    while not _is_late(deadline) and (job := take(_left(deadline))) is not None:
        try:
            yield Outcome(job, made=make(job, _left(deadline)))
        except ElmoError as error:
            yield Outcome(job, problem=str(error))


def _run(connection: Connection, make: Make[J], job: J, deadline: float | None) -> None:
    """In the process of a job."""
    torch.set_num_threads(1)  # the others have the other cores
    try:
        connection.send(Outcome(job, made=make(job, _left(deadline))))
    except ElmoError as error:
        connection.send(Outcome(job, problem=str(error)))
    except Exception:
        connection.send(Outcome(job, problem=traceback.format_exc()))
    finally:
        connection.close()


def _outcome(connection: Connection, process: Any, job: J) -> Outcome[J]:
    try:
        found: Outcome[J] = connection.recv()
    except EOFError:
        process.join()
        return Outcome(job, problem=f"its process ended with status {process.exitcode}")
    finally:
        connection.close()
    process.join()
    return found


def _end(running: dict[Connection, tuple[Any, J]]) -> None:
    """Ask processes to save and end, then end them."""
    for process, _ in running.values():
        process.terminate()
    last = time.monotonic() + GRACE
    for process, _ in running.values():
        process.join(max(0.1, last - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()


def _context(device: str | None) -> Any:
    """How processes begin: forked, unless the system cannot or a forked one cannot reach the device."""
    if "fork" in multiprocessing.get_all_start_methods():
        fork = multiprocessing.get_context("fork")
        trial = fork.Process(target=_reach, args=(device,))
        trial.start()
        trial.join(120)
        if trial.exitcode == 0:
            return fork
        if trial.is_alive():
            trial.kill()
    return multiprocessing.get_context("spawn")


def _reach(device: str | None) -> None:
    """Fail where the device cannot be used."""
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.ones(2, device=device).sum().item()


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else deadline - time.monotonic()


def _is_late(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() > deadline

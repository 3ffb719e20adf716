"""Jobs in several processes until a deadline: each in one of its own, begun when another ends.

Processes are forked where they can be, so that what was read before is there for all of them and takes memory once. A
process that has used CUDA must not be forked; `elmo.reproduce` reads, and never computes, in the one that forks.
"""

import gc
import logging
import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

import torch

from elmo.errors import ElmoError

logger = logging.getLogger(__name__)

J = TypeVar("J")
Make = Callable[[J, float | None], dict[str, Any] | None]

GRACE = 45.0  # seconds after the deadline for a process to save and end by itself
POLL = 1.0
STOPS = (signal.SIGINT, signal.SIGTERM)


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
    with _ending(running):
        while True:
            while len(running) < processes and not _is_late(deadline):
                job = take(_left(deadline))
                if job is None:
                    break
                ours, theirs = context.Pipe(duplex=False)
                gc.freeze()  # a collection in a forked process would copy every page
                process = context.Process(target=_run, args=(theirs, make, job, _left(deadline), os.getpid()))
                with _stops_waiting():
                    process.start()
                theirs.close()
                running[ours] = (process, job)
            if not running:
                return
            for connection in wait(list(running), timeout=POLL):
                assert isinstance(connection, Connection)
                outcome = _outcome(connection, *running.pop(connection))
                yield outcome
                if _was_told_to_stop(outcome) and not _is_late(deadline):
                    return
            if deadline is not None and time.monotonic() > deadline + GRACE:
                return


def _alone(take: Callable[[float | None], J | None], make: Make[J], deadline: float | None) -> Iterator[Outcome[J]]:
    while not _is_late(deadline) and (job := take(_left(deadline))) is not None:
        outcome = _outcome_of(make, job, deadline)
        yield outcome
        if _was_told_to_stop(outcome):
            return


def _was_told_to_stop(outcome: Outcome[J]) -> bool:
    """Which is meant for all."""
    return outcome.made is None and outcome.problem is None


def _outcome_of(make: Make[J], job: J, deadline: float | None) -> Outcome[J]:
    try:
        return Outcome(job, made=make(job, _left(deadline)))
    except ElmoError as error:
        return Outcome(job, problem=str(error))
    except Exception:
        return Outcome(job, problem=traceback.format_exc())


def _run(connection: Connection, make: Make[J], job: J, left: float | None, parent: int) -> None:
    """In the process of a job."""
    threading.Thread(target=_stop_without, args=(parent,), daemon=True).start()
    torch.set_num_threads(1)  # the others have the other cores
    try:
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)  # those that have waited come now
        connection.send(Outcome(job, made=make(job, left)))
    except ElmoError as error:
        connection.send(Outcome(job, problem=str(error)))
    except KeyboardInterrupt:  # told to stop where a run has nothing to save
        with suppress(OSError):  # there may be nobody left to tell
            connection.send(Outcome(job))
    except Exception:
        connection.send(Outcome(job, problem=traceback.format_exc()))
    finally:
        connection.close()


@contextmanager
def _stops_waiting() -> Iterator[None]:
    """A process that begins inherits the handler of who began it: one that is told to stop between `fork` and its own
    first line would go on as a second one of that. So signals wait until it is ready for them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows, where no process is forked
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _stop_without(parent: int) -> None:
    """Save and end when the process that would hear of the result is gone."""
    while os.getppid() == parent:
        time.sleep(POLL)
    os.kill(os.getpid(), signal.SIGTERM)


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


@contextmanager
def _ending(running: dict[Connection, tuple[Any, J]]) -> Iterator[None]:
    """However the block ends, SIGTERM included: ask the processes to save and end, then end them."""
    main = threading.current_thread() is threading.main_thread()  # Python allows handlers nowhere else
    before = signal.signal(signal.SIGTERM, signal.default_int_handler) if main else None
    try:
        yield
    finally:
        for process, _ in running.values():
            process.terminate()
        last = time.monotonic() + GRACE
        for process, _ in running.values():
            process.join(max(0.1, last - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()
        if main:
            signal.signal(signal.SIGTERM, before)


def _context(device: str | None) -> Any:
    """How processes begin: forked, unless the system cannot or a forked one cannot reach the device."""
    if "fork" in multiprocessing.get_all_start_methods():
        fork = multiprocessing.get_context("fork")
        trial = fork.Process(target=_reach, args=(device,))
        trial.start()
        trial.join(120)
        if trial.exitcode == 0:
            logger.info("processes are forked")
            return fork
        if trial.is_alive():
            trial.kill()
    logger.info("processes are not forked: each reads its data itself")
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

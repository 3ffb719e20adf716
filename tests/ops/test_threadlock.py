"""A lock in an object that is copied, pickled or forked."""

import copy
import os
import pickle
import threading

import pytest
from tests.forked import code_of, fork_for

from elmo.ops.threadlock import ThreadLock


def test_one_thread_at_a_time_and_the_same_thread_again() -> None:
    lock, inside, most = ThreadLock(), 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(200):
            with lock.held(), lock.held():
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (inside, most) == (0, 1)


def test_an_error_frees_it() -> None:
    lock = ThreadLock()
    with pytest.raises(KeyboardInterrupt), lock.held():
        raise KeyboardInterrupt
    assert is_free(lock)


def test_a_copy_of_a_held_lock_is_free() -> None:
    lock = ThreadLock()
    with lock.held():
        assert not is_free(lock)
        for again in (copy.deepcopy(lock), copy.copy(lock), pickle.loads(pickle.dumps(lock))):
            assert is_free(again)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("holder", ["another thread", "this thread"])
def test_a_forked_process_has_a_free_lock(holder: str) -> None:
    lock, ready, done = ThreadLock(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock.held():
            ready.set()
            done.wait()

    def take() -> bool:
        with lock.held():
            return True

    if holder == "another thread":
        thread = threading.Thread(target=hold)
        thread.start()
        ready.wait()
        child = fork_for(take)
    else:
        with lock.held():
            child = fork_for(take)
    done.set()
    assert code_of(child) == 0
    if holder == "another thread":
        thread.join()
    assert is_free(lock)


def is_free(lock: ThreadLock) -> bool:
    """Asked by another thread."""
    found = []

    def ask() -> None:
        taken = lock._lock.acquire(blocking=False)
        found.append(taken)
        if taken:
            lock._lock.release()

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    return found[0]

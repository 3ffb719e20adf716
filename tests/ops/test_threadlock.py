"""A lock in an object that is copied, pickled or forked."""

import copy
import os
import pickle
import signal
import threading

import pytest

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

    if holder == "another thread":
        thread = threading.Thread(target=hold)
        thread.start()
        ready.wait()
        child = os.fork()
    else:
        with lock.held():
            child = os.fork()
    if child == 0:
        signal.alarm(600)  # a lock that is never freed ends this process
        with lock.held():
            os._exit(0)
    done.set()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
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

"""Work beside the main thread: order, bounds, and errors of either side."""

import sys
import threading
import time
from collections.abc import Iterable, Iterator

import pytest

from elmo.embed.bulk.pipeline import Abandoned, Behind, ahead, short_turns


def put_all(behind: Behind[int], items: Iterable[int]) -> None:
    with behind:
        for item in items:
            behind.put(item)


def test_items_come_in_order() -> None:
    assert list(ahead(iter(range(50)), depth=2)) == list(range(50))


def test_no_more_items_are_made_than_are_asked_for() -> None:
    made = []

    def items() -> Iterator[int]:
        for n in range(100):
            made.append(n)
            yield n

    ready = ahead(items(), depth=2)
    assert next(ready) == 0
    time.sleep(0.3)
    assert len(made) <= 4
    ready.close()
    assert not any(thread.name == "elmo-ahead" for thread in threading.enumerate())


def test_an_error_of_the_maker_reaches_the_taker() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        list(ahead(items(), depth=2))


def test_what_is_put_is_worked_on_in_order() -> None:
    seen: list[int] = []
    put_all(Behind(seen.extend, depth=1), range(20))
    assert seen == list(range(20))


def test_an_error_behind_reaches_the_main_thread() -> None:
    def fail(items: Iterator[int]) -> None:
        next(items)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        put_all(Behind(fail, depth=1), range(1000))


def test_an_error_at_the_very_end_is_not_lost() -> None:
    def fail(items: Iterator[int]) -> None:
        list(items)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        put_all(Behind(fail, depth=1), range(1))


def test_an_error_of_the_main_thread_abandons_the_work() -> None:
    met = []

    def work(items: Iterator[int]) -> None:
        try:
            list(items)
        except Abandoned:
            met.append("abandoned")

    def interrupted() -> Iterator[int]:
        yield 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        put_all(Behind(work, depth=1), interrupted())
    assert met == ["abandoned"]


def test_turns_are_as_long_as_before_whatever_ends_the_work() -> None:
    before = sys.getswitchinterval()
    with pytest.raises(RuntimeError, match="the work failed"), short_turns():
        raise RuntimeError("the work failed")
    assert sys.getswitchinterval() == pytest.approx(before)

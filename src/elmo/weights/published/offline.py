"""Whether the network may be asked for a model: not where the environment forbids it, nor inside `working_offline`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

VARIABLE = "ELMO_OFFLINE"

_forbidden: ContextVar[bool] = ContextVar("_forbidden", default=False)


@contextmanager
def working_offline() -> Iterator[None]:
    """A block in which no model is fetched. It holds for this thread and its calls, and ends with the block."""
    token = _forbidden.set(True)
    try:
        yield
    finally:
        _forbidden.reset(token)


def is_offline() -> bool:
    """Whether models must be on this machine already."""
    return _forbidden.get() or os.environ.get(VARIABLE, "") not in ("", "0")

"""Looking for the compiled library as a new process does, without losing the one that this process has."""

import functools

import pytest

from elmo.ops.cpu import library


def ask_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the test ends. What was found before is back then: tests that follow must not have to build it again."""
    monkeypatch.setattr(library, "_find_library", functools.cache(library._find_library.__wrapped__))

"""Packages that load their names on first use, so that `import elmo` and `elmo --help` wait for no library."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from elmo.errors import needing_torch


def loaded_on_use(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package with names of these modules; who lacks torch is told what needs it."""

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with needing_torch(name):
            return getattr(import_module(homes[name]), name)

    def names() -> list[str]:
        return sorted([*vars(sys.modules[package]), *homes])

    return get, names

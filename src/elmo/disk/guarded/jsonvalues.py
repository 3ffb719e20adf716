"""Single values out of JSON that others wrote: unknown keys are left alone, a wrong value fails with its place."""

from collections.abc import Mapping
from typing import Any

from elmo.disk.guarded.plainfiles import shortened
from elmo.errors import WeightsError


def table(values: Mapping[str, Any], key: str, *, where: str) -> Mapping[str, Any]:
    """An object with keys."""
    found = values.get(key)
    if not isinstance(found, dict):
        raise WeightsError(f"{where}: {key} is {shortened(found)}, but an object with keys is wanted")
    return found


def integer(values: Mapping[str, Any], key: str, *, default: int | None = None, where: str) -> int:
    """An integer; absent and null are the default, where there is one."""
    found = values.get(key)
    if found is None and default is not None:
        return default
    if type(found) is not int:
        raise WeightsError(f"{where}: {key} is {shortened(found)}, but an integer is wanted")
    return found


def truth(values: Mapping[str, Any], key: str, *, default: bool, where: str) -> bool:
    """True or false; absent and null are the default."""
    found = values.get(key)
    if found is None:
        return default
    if type(found) is not bool:
        raise WeightsError(f"{where}: {key} is {shortened(found)}, but true or false is wanted")
    return found


def text(values: Mapping[str, Any], key: str, *, one_of: tuple[str, ...], where: str) -> Any:
    """One of some words."""
    found = values.get(key)
    if not isinstance(found, str) or found not in one_of:
        wanted = " or ".join(map(repr, one_of))
        raise WeightsError(f"{where}: {key} is {shortened(found)}, but {wanted} is wanted")
    return found


def clip(values: Mapping[str, Any], key: str, *, where: str) -> float | None:
    """A number from 0; absent and null are no clip."""
    found = values.get(key)
    if found is None:
        return None
    if type(found) not in (int, float) or not 0 <= found < 1e30:
        raise WeightsError(f"{where}: {key} is {shortened(found)}, but a number above 0 is wanted, or null")
    return float(found)


def pairs(values: Mapping[str, Any], key: str, *, where: str) -> tuple[tuple[int, int], ...]:
    """A list of [width, count]."""
    found = values.get(key)
    if not isinstance(found, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(type(n) is int for n in pair) for pair in found
    ):
        raise WeightsError(f"{where}: {key} is {shortened(found)}, but a list of [width, count] is wanted")
    return tuple((width, count) for width, count in found)

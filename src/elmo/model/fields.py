"""Reading a frozen dataclass from a mapping (JSON, TOML), strictly: unknown keys, missing keys and wrong types fail."""

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from elmo.errors import ConfigError

C = TypeVar("C")
_FORMERLY = "formerly"


def formerly(name: str | None = None, *, values: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Metadata of a field: the name that it has in older files, and what was written there for its values."""
    return {_FORMERLY: (name, values or {})}


def read_fields(cls: type[C], values: object, *, where: str) -> C:
    """Build `cls` from `values`; `where` names the place in the file for messages."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"{where}: found {_kind(values)}, but a table with keys is wanted")
    fields = {f.name: f for f in dataclasses.fields(typing.cast(Any, cls))}
    values = in_present_names(cls, values)
    unknown = sorted(set(map(str, values)) - set(fields))
    if unknown:
        raise ConfigError(f"{where}: unknown key {unknown[0]!r:.80}; known keys are {', '.join(sorted(fields))}")
    hints = typing.get_type_hints(cls)
    arguments: dict[str, Any] = {}
    for name, field in fields.items():
        if name in values:
            arguments[name] = _read(hints[name], values[name], where=f"{where}.{name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise ConfigError(f"{where}: key {name!r} is missing")
    return cls(**arguments)


def in_present_names(cls: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of `cls` as it names its fields now, whenever they were written."""
    result = dict(values)
    for field in dataclasses.fields(cls):
        name, present = field.metadata.get(_FORMERLY, (None, {}))
        if name in result and field.name not in result:
            result[field.name] = result.pop(name)
        value = result.get(field.name)
        if isinstance(value, str) and value in present:
            result[field.name] = present[value]
    return result


def _read(hint: Any, value: object, *, where: str) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        if value not in arguments or isinstance(value, bool) != any(
            value is a for a in arguments if a in (True, False)
        ):
            raise ConfigError(f"{where}: found {value!r:.80}, but one of {', '.join(map(repr, arguments))} is wanted")
        return value
    if origin in (types.UnionType, typing.Union):
        if value is None and type(None) in arguments:
            return None
        options = [a for a in arguments if a is not type(None)]
        if len(options) == 1:
            return _read(options[0], value, where=where)
        return _read_union(options, value, where=where)
    if hint is Any:
        return value
    if origin is list:
        return list(_read_tuple((arguments[0], ...), value, where=where))
    if origin is dict:
        if not isinstance(value, Mapping):
            raise ConfigError(f"{where}: found {_kind(value)}, but a table with keys is wanted")
        return {str(name): _read(arguments[1], v, where=f"{where}.{name!s:.80}") for name, v in value.items()}
    if origin is tuple:
        return _read_tuple(arguments, value, where=where)
    if dataclasses.is_dataclass(hint):
        return read_fields(typing.cast(type, hint), value, where=where)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise ConfigError(f"{where}: found {value!r:.80} ({_kind(value)}), but {hint.__name__} is wanted")
    return value


def _read_union(options: list[Any], value: object, *, where: str) -> Any:
    """One of several dataclasses, told apart by the literal in their `kind`; without one the first is meant."""
    kinds = {typing.get_args(typing.get_type_hints(option)["kind"])[0]: option for option in options}
    found = value.get("kind", next(iter(kinds))) if isinstance(value, Mapping) else None
    if not isinstance(found, str) or found not in kinds:
        raise ConfigError(f"{where}.kind: found {found!r:.80}, but one of {', '.join(map(repr, kinds))} is wanted")
    return read_fields(kinds[found], value, where=where)


def _read_tuple(arguments: tuple[Any, ...], value: object, *, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise ConfigError(f"{where}: found {_kind(value)}, but a list is wanted")
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return tuple(_read(arguments[0], v, where=f"{where}[{n}]") for n, v in enumerate(value))
    if len(value) != len(arguments):
        raise ConfigError(f"{where}: found {len(value)} values, but {len(arguments)} are wanted")
    return tuple(_read(a, v, where=f"{where}[{n}]") for n, (a, v) in enumerate(zip(arguments, value, strict=True)))


def _kind(value: object) -> str:
    return "null" if value is None else type(value).__name__

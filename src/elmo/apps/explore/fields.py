"""What a request of the page says: each field looked at once, and refused in a sentence that names it."""

from collections.abc import Mapping
from typing import Any

from elmo.errors import InputError


LONGEST_SENTENCE = 2000  # characters of a sentence that is typed in
LONGEST_WORD = 200


class Fields:
    """The fields of a JSON object."""

    def __init__(self, values: object) -> None:
        if not isinstance(values, Mapping):
            raise InputError("the body must be a JSON object, such as {}")
        self._values: Mapping[str, Any] = values

    def text(self, name: str, *, longest: int, default: str | None = None) -> str:
        """A string, without the white space around it; without `default` it must not be empty."""
        value = self._values.get(name, default)
        if not isinstance(value, str):
            raise InputError(f"{name!r} is {_shown(value)}; text is wanted")
        value = value.encode("utf-8", "replace").decode("utf-8").strip()  # a lone half of a surrogate pair is no text
        if not value and default is None:
            raise InputError(f"{name!r} is empty; text is wanted")
        if len(value) > longest:
            raise InputError(f"{name!r} has {len(value)} characters; {longest} are the most")
        return value

    def number(self, name: str, *, least: int, most: int, default: int | None = None) -> int:
        """A whole number within bounds."""
        value = self._values.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise InputError(f"{name!r} is {_shown(value)}; a whole number from {least} to {most} is wanted")
        return value

    def switch(self, name: str) -> bool:
        """True or false; false if it is not there."""
        value = self._values.get(name, False)
        if not isinstance(value, bool):
            raise InputError(f"{name!r} is {_shown(value)}; true or false is wanted")
        return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."

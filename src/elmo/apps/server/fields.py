"""Fields of a request: each taken once with its type checked; what is missing, wrong or unknown is refused by name."""

from collections.abc import Mapping, Sequence
from typing import Any

from elmo.apps.server.limits import Limits
from elmo.apps.server.refusals import RefusedError, wrong_value

NO_TOKEN_IDS = (
    "these are token ids of another model; send text (LangChain: OpenAIEmbeddings(check_embedding_ctx_length=False))"
)
LARGEST = 1e30  # of a number in a vector: its square is a number too
_REQUIRED = object()


class RequestFields:
    """The fields of one JSON object. `end` refuses those that nobody took."""

    def __init__(self, values: Mapping[str, Any], limits: Limits) -> None:
        self._left = dict(values)
        self._limits = limits

    def end(self) -> None:
        """Nothing is ignored: a misspelled option would be without effect."""
        if self._left:
            name = next(iter(self._left))
            raise RefusedError(422, f"{shown(name)} is no field of this request", code="unknown_field", param=name[:60])

    def text(self, name: str, default: Any = _REQUIRED) -> Any:
        """A string."""
        value = self._take(name, default)
        if value is default:
            return value
        if not isinstance(value, str):
            raise wrong_value(name, f"{name} is {kind(value)}; a string is wanted")
        return whole(value, name)

    def flag(self, name: str, *, default: bool) -> bool:
        """A boolean."""
        value = self._take(name, default)
        if not isinstance(value, bool):
            raise wrong_value(name, f"{name} is {kind(value)}; true or false is wanted")
        return value

    def integer(self, name: str, default: Any, *, least: int, most: int) -> Any:
        """A whole number within bounds."""
        value = _integral(self._take(name, default))
        if value is default:
            return value
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise wrong_value(name, f"{name} is {kind(value)}; a whole number from {least:,} to {most:,} is wanted")
        return value

    def choice(self, name: str, choices: Sequence[str], default: str) -> str:
        """One of some words."""
        value = self._take(name, default)
        if not isinstance(value, str) or value not in choices:
            raise wrong_value(name, f"{name} is {kind(value)}; it must be one of {', '.join(choices)}")
        return value

    def layers(self, count: int, default: str | None = "mean", *, name: str = "layers", all_too: bool = True) -> Any:
        """A choice of layers of a model that has `count`."""
        value = _integral(self._take(name, default))
        names = ("mean", "top", "all") if all_too else ("mean", "top")
        if value is default or (isinstance(value, str) and value in names):
            return value
        if isinstance(value, bool) or not isinstance(value, int) or not -count <= value < count:
            raise wrong_value(
                name,
                f"{name} is {kind(value)}; it must be {', '.join(names)}, or a number from {-count} to {count - 1}",
            )
        return value

    def texts(self, name: str, *, tokens: bool) -> list[Any]:
        """One text or several, each a string, or where `tokens` are allowed too a list of strings."""
        value = self._take(name, _REQUIRED)
        if isinstance(value, str):
            return [whole(value, name)]
        if not isinstance(value, list) or not value:
            what = "is empty" if value == [] else f"is {kind(value)}"
            raise wrong_value(name, f"{name} {what}; a string or a list of strings is wanted")
        if len(value) > self._limits.most_inputs:
            most = self._limits.most_inputs
            raise RefusedError(
                413, f"{name} has {len(value):,} texts, but {most:,} are allowed", code="too_many_inputs", param=name
            )
        lists = tokens and isinstance(value[0], list)
        for number, one in enumerate(value):
            place = f"{name}[{number}]"
            _refuse_ids(one, name)
            if not lists:
                if not isinstance(one, str):
                    raise wrong_value(name, f"{place} is {kind(one)}; a string is wanted")
                whole(one, place)
                continue
            if not isinstance(one, list):
                raise wrong_value(
                    name, f"{place} is {kind(one)}, but {name}[0] is a list of tokens; give one or the other"
                )
            for token in one:
                if not isinstance(token, str):
                    raise wrong_value(name, f"{place} has a token that is {kind(token)}; strings are wanted")
                whole(token, place)
        return value

    def numbers(self, name: str, length: int) -> list[float] | None:
        """So many numbers, or None."""
        value = self._take(name, None)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != length:
            what = f"a list of {len(value):,}" if isinstance(value, list) else kind(value)
            raise wrong_value(name, f"{name} is {what}; {length:,} numbers are wanted")
        for one in value:
            if isinstance(one, bool) or not isinstance(one, int | float) or not abs(one) < LARGEST:
                raise wrong_value(name, f"{name} has {kind(one)} in it; numbers are wanted")
        return value

    def has(self, name: str) -> bool:
        """Whether a field is given."""
        return self._left.get(name) is not None

    def anything(self, name: str) -> Any:
        """A value that is checked elsewhere."""
        return self._take(name, _REQUIRED)

    def _take(self, name: str, default: Any) -> Any:
        value = self._left.pop(name, None)  # null is as good as nothing
        if value is None and default is _REQUIRED:
            raise RefusedError(422, f"{name} is missing", code="missing_field", param=name)
        return default if value is None else value


def whole(text: str, where: str) -> str:
    """A string that is text: half a character, as some programs cut them, is none."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise wrong_value(
            where, f"{where} has half a character (a lone surrogate) at position {error.start}; send whole ones"
        ) from None
    return text


def kind(value: Any) -> str:
    """A value as a message shows it: what it is, and the beginning of it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return "a number" if isinstance(value, int) and value.bit_length() > 64 else str(value)
    if isinstance(value, str):
        return shown(value)
    return "null" if value is None else "a list" if isinstance(value, list) else "an object"


def shown(text: str) -> str:
    """The beginning of a string, in quotation marks, with what cannot be sent escaped."""
    return ascii(text[:40]) if not text[:40].isprintable() else repr(text[:40])


def _integral(value: Any) -> Any:
    """A number as an integer if it is one, as JSON's schemas see it: 1.0 is 1."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _refuse_ids(value: Any, name: str) -> None:
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, int) and not isinstance(first, bool):
        raise RefusedError(422, f"{name}: {NO_TOKEN_IDS}", code="token_ids", param=name)

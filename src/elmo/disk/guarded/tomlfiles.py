"""TOML from strangers, within bounds: the library that reads it knows none.

It takes time that grows with the square of the parts of a dotted key, and follows brackets by calling itself.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

from elmo.disk.guarded.plainfiles import MOST_DIGITS, Refusal, finite_float, one_line, read_text, require_shallow
from elmo.errors import ConfigError

MOST_TOML_BYTES = 1 << 16  # the longest recipe that comes with the product has under two thousand
MOST_DOTS = 100  # in a line: keys have three at most, and a list of numbers one each
_LONG_NUMBER = re.compile(r"[0-9A-Fa-f_]{80,}")  # what is not that long but longer than MOST_DIGITS is cheap to read


def read_toml(path: Path, *, refusal: Refusal = ConfigError) -> dict[str, Any]:
    """The tables of a file."""
    return parse_toml(read_text(path, most_bytes=MOST_TOML_BYTES, refusal=refusal), where=str(path), refusal=refusal)


def parse_toml(text: str, *, where: str, refusal: Refusal = ConfigError) -> dict[str, Any]:
    """The tables of a text."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > MOST_DOTS or _LONG_NUMBER.search(line):
            raise refusal(f"{where}: line {number} has a key or a number far too long for TOML of ours")
    try:
        values = tomllib.loads(text, parse_float=finite_float)
    except RecursionError:
        raise refusal(f"{where}: is nested too deeply to be read") from None
    except ValueError as error:  # TOMLDecodeError is one, and so is what a number raises
        raise refusal(f"{where}: is not TOML ({one_line(error)})") from None
    require_shallow(values, where=where, refusal=refusal)
    _require_small_integers(values, where=where, refusal=refusal)
    return values


def _require_small_integers(value: object, *, where: str, refusal: Refusal) -> None:
    """The library has no place to look at an integer while it is read."""
    if isinstance(value, int) and abs(value) >= 10**MOST_DIGITS:
        raise refusal(f"{where}: {str(value)[:MOST_DIGITS]}... is not a number that can be read")
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _require_small_integers(child, where=where, refusal=refusal)

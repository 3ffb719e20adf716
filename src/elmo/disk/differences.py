"""What two descriptions of a job differ in, in words: is the work that was begun the work that is asked for now?"""

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from elmo.disk.guarded.plainfiles import shortened

LONGEST_NAME, BEGINNING = 120, 20  # characters in a message; of a path the end says which file it is


def first_difference(recorded: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
    """The first thing that is wanted and not as recorded, in words; None where all of it is.

    What is recorded may say more than what is wanted; a table or a list in it may not.
    """
    for key, now in wanted.items():
        before = recorded.get(key)
        name = _short(key)  # it may be the record's own, and of any length
        if isinstance(now, Mapping) and isinstance(before, Mapping):
            difference = first_difference(before, {**dict.fromkeys(before), **now})
            if difference is not None:
                return f"{name}.{difference}"
        elif isinstance(now, list) and isinstance(before, list):
            for one, other in zip_longest(before, now):
                if one != other:
                    return f"{name} had {shortened(one)} where there is {shortened(other)} now"
        elif before != now:
            return f"{name} was {shortened(before)} and is {shortened(now)} now"
    return None


def _short(name: str) -> str:
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[:BEGINNING]}...{name[BEGINNING + 3 - LONGEST_NAME :]}"

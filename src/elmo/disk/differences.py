"""What two descriptions of a job differ in, in words: is the work that was begun the work that is asked for now?"""

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from elmo.disk.guarded.plainfiles import shortened

LONGEST_NAME = 40  # in a message


def first_difference(recorded: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
    """The first thing that is wanted and not as recorded, in words; None where all of it is.

    What is recorded may say more than what is wanted; a table or a list in it may not.
    """
    for key, now in wanted.items():
        before = recorded.get(key)
        name = key if len(key) <= LONGEST_NAME else f"{key[: LONGEST_NAME - 3]}..."  # it may be the record's own
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

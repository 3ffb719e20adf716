"""`Finding`: one thing that was looked at in a file or folder, and whether it is sound. For `elmo verify`."""

from typing import NamedTuple


class Finding(NamedTuple):
    """One thing that was looked at."""

    ok: bool
    what: str

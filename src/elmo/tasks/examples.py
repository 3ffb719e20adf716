"""`Example`: what every reader gives and every task learns from or answers."""

from dataclasses import dataclass
from typing import Any

Text = tuple[str, ...]  # the tokens of one sentence


@dataclass(frozen=True)
class Example:
    """One or more texts and the answer wanted for them (None where there is none), with the place they come from."""

    texts: tuple[Text, ...]
    answer: Any = None
    place: str = "example"

"""`Limits`: how much one request may ask for, how much may wait, and how long anything may take."""

from dataclasses import dataclass

from elmo.errors import ConfigError

BATCH_TOKENS, BATCH_TOKENS_ON_GPU = 4096, 65536


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds of a server. What is over `most_waiting_tokens` is refused with 429, of one request the others with 413.

    Tokens wait from the moment that their request is taken until its answer has been sent.
    """

    most_bytes: int = 2_000_000  # of the body of a request
    most_inputs: int = 2048  # texts of a request
    most_tokens: int = 300_000  # of a request
    most_waiting_tokens: int = 200_000  # of all requests; one that is alone may have more
    batch_tokens: int = BATCH_TOKENS  # that go through the model at once
    timeout: float = 120.0  # seconds from a request's headers to the end of its answer
    read_timeout: float = 20.0  # seconds for a request's headers, and again for its body

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0 < value < float("inf"):
                raise ConfigError(f"{name} is {value}; it must be more than 0")

    @property
    def most_bytes_at_once(self) -> int:
        """Of all bodies together: a client that sends many at once is told to come again."""
        return 32 * self.most_bytes

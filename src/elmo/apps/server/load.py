"""`Load`: how much all requests in the house hold together, and who is refused because of it."""

import math

from elmo.apps.server.limits import Limits
from elmo.apps.server.metrics import ServerMetrics
from elmo.apps.server.refusals import RefusedError

LONGEST_RETRY = 60  # seconds
FIRST_RATE = 2000.0  # tokens a second, before any batch told a better number
FORGETTING = 0.2


class Load:
    """Counts of one event loop; no other thread touches them."""

    def __init__(self, limits: Limits, metrics: ServerMetrics) -> None:
        self._limits = limits
        self._metrics = metrics
        self._rate = FIRST_RATE
        self.tokens = self.bytes = 0

    def check(self) -> None:
        """Refuse a request before anything is read of it, where it could only wait in vain."""
        if self.tokens >= self._limits.most_waiting_tokens:
            raise self._too_many()

    def take_tokens(self, count: int) -> None:
        """Count a request's tokens, or refuse it."""
        if count > self._limits.most_tokens:
            raise RefusedError(
                413,
                f"the request has {count:,} tokens, but {self._limits.most_tokens:,} are allowed; send fewer texts",
                code="too_many_tokens",
            )
        if self.tokens and self.tokens + count > self._limits.most_waiting_tokens:
            raise self._too_many()
        self.tokens += count
        self._metrics.waiting_tokens.set(self.tokens)

    def take_bytes(self, count: int) -> None:
        """Count bytes of a body, or refuse it."""
        if self.bytes + count > self._limits.most_bytes_at_once:
            raise self._busy("too many bytes are on their way to this server", 1)
        self.bytes += count

    def give_back(self, *, tokens: int, size: int) -> None:
        """What a request held is free again."""
        self.tokens -= tokens
        self.bytes -= size
        self._metrics.waiting_tokens.set(self.tokens)

    def learn_rate(self, tokens: int, seconds: float) -> None:
        """What a batch took, for the advice when to come again."""
        if tokens and seconds > 0:
            self._rate += FORGETTING * (tokens / seconds - self._rate)

    def _too_many(self) -> RefusedError:
        return self._busy(f"{self.tokens:,} tokens are waiting already", math.ceil(self.tokens / max(self._rate, 1.0)))

    def _busy(self, what: str, seconds: int) -> RefusedError:
        after = min(max(seconds, 1), LONGEST_RETRY)
        return RefusedError(
            429, f"{what}; try again in {after} seconds", code="busy", headers={"Retry-After": str(after)}
        )

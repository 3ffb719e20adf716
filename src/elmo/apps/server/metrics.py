"""What a server counts and measures, in Prometheus' format; a registry of its own for each server."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

TOKENS = (1, 16, 64, 256, 1024, 4096, 16384, 65536)
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class ServerMetrics:
    """The numbers of one server."""

    def __init__(self) -> None:
        own = self._registry = CollectorRegistry()
        self.requests = Counter("elmo_requests", "Requests.", ["route", "status"], registry=own)
        self.seconds = Histogram(
            "elmo_request_seconds", "From headers to the end of the answer.", ["route"], buckets=SECONDS, registry=own
        )
        self.refused = Counter("elmo_refused", "Requests refused because too much was waiting.", registry=own)
        self.dropped = Counter("elmo_dropped", "Requests whose client went away.", registry=own)
        self.tokens = Counter("elmo_tokens", "Tokens that went through the model.", registry=own)
        self.batch_tokens = Histogram("elmo_batch_tokens", "Tokens of a batch.", buckets=TOKENS, registry=own)
        self.batch_seconds = Histogram("elmo_batch_seconds", "Seconds of a batch.", buckets=SECONDS, registry=own)
        self.waiting_tokens = Gauge("elmo_waiting_tokens", "Tokens taken and not yet answered.", registry=own)
        self.ready = Gauge("elmo_ready", "1 from the warm-up to the shutdown.", registry=own)

    def text(self) -> bytes:
        """What /metrics answers."""
        return generate_latest(self._registry)

"""The log of a server: a JSON object a line on standard error, of its own events alone. No text ever comes into it."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

from elmo.apps.server.gate import frames

# Messages of the library may quote words of a text (one too long, one that occurs twice): of these two none does.
OUR_LOGGERS = ("elmo.server", "elmo.embed.batchembedder")
# uvicorn and asyncio tell of connections; their messages about requests have fixed words, but may carry an error.
THEIR_LOGGERS = ("uvicorn.error", "asyncio")


class JsonLines(logging.Formatter):
    """A record as one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, event, and its facts; of an error the kind and the place."""
        values = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage().partition("\n")[0]
            if record.name in OUR_LOGGERS
            else record.msg.split("\n")[0],
            **getattr(record, "facts", {}),
        }
        if record.exc_info is not None and record.exc_info[1] is not None:
            error = record.exc_info[1]
            values |= {"error": type(error).__name__, "frames": frames(error)}
        return json.dumps(values)


def log_as_json(*, requests: bool, stream: TextIO | None = None) -> None:
    """Let the loggers of a server write to `stream`, and no other; `requests`: a line for each request too."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    if not requests:
        handler.addFilter(lambda record: record.msg != "request")
    root = logging.getLogger()
    for other in list(root.handlers):
        root.removeHandler(other)
    root.addHandler(logging.NullHandler())
    for name in (*OUR_LOGGERS, *THEIR_LOGGERS):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.INFO if name in OUR_LOGGERS else logging.WARNING)

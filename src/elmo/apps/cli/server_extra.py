"""The libraries of the extra `serve`, for the commands that need them: what is said where one is missing."""

from collections.abc import Iterator
from contextlib import contextmanager

from elmo.errors import MissingExtraError

LIBRARIES = ("starlette", "uvicorn", "prometheus_client", "h11", "anyio")


@contextmanager
def server_extra(command: str) -> Iterator[None]:
    """Imports of the server; a library that is not there is named with what brings it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in LIBRARIES:
            raise
        raise MissingExtraError(
            f"{command} needs {error.name}; install the extra `serve`: pip install 'elmo-embeddings[serve]', "
            "or in a clone pip install '.[serve]'"
        ) from None

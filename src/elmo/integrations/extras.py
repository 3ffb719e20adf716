"""What an integration says when its library is not installed: the library, and the extra that brings it."""

from elmo.errors import MissingExtraError


class MissingLibraryError(MissingExtraError, ImportError):
    """The library of an integration is not installed. An ImportError too, since an import raises it."""


def missing(integration: str, *, library: str, extra: str) -> MissingLibraryError:
    """The error for `elmo.integrations.<integration>` without its library."""
    return MissingLibraryError(
        f"elmo.integrations.{integration} needs {library}; install the extra `{extra}`: "
        f"pip install 'elmo-embeddings[{extra}]', or in a clone pip install '.[{extra}]'"
    )

"""What an integration says when its library is not installed: the library, and the extra that brings it."""

from elmo.errors import MissingLibraryError


def missing(integration: str, *, library: str, extra: str) -> MissingLibraryError:
    """The error for `elmo.integrations.<integration>` without its library."""
    return MissingLibraryError(
        f"elmo.integrations.{integration} needs {library}; install the extra `{extra}`: "
        f"pip install 'elmo-embeddings[{extra}]', or in a clone pip install '.[{extra}]'"
    )

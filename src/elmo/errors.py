"""Every error the product raises on purpose. A message names the thing, the value found and the cure."""

from collections.abc import Iterator
from contextlib import contextmanager


class ElmoError(Exception):
    """Base of all errors raised on purpose; the command line prints it in one line."""

    exit_code = 1


class UserError(ElmoError):
    """Something the caller can put right: an argument, an input file, a configuration."""

    exit_code = 2


class ConfigError(UserError):
    """A configuration value or file that cannot be used."""


class InputError(UserError):
    """Text or another input that cannot be read as what it should be."""


class VocabularyError(UserError):
    """A vocabulary that breaks the rules of its format."""


class WeightsError(UserError):
    """A model file that is missing, damaged, of the wrong shape, or not to be trusted."""


class MissingExtraError(UserError):
    """An optional dependency that a requested feature needs is not installed."""


class MissingLibraryError(MissingExtraError, ImportError):
    """The library of a feature is not installed. An ImportError too, since an import raises it."""


class ResumeError(UserError):
    """Saved progress that does not belong to the work asked for."""


TORCH = "torch; install it with: pip install 'elmo-embeddings[torch]', or in a clone pip install '.[torch]'"


@contextmanager
def needing_torch(what: str) -> Iterator[None]:
    """Around an import of what imports torch: without torch an error that says what needs it, and how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingLibraryError(f"{what} needs {TORCH}") from None

"""Every error the product raises on purpose. A message names the thing, the value found and the cure."""


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


class ResumeError(UserError):
    """Saved progress that does not belong to the work asked for."""

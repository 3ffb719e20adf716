"""Files and directories that are whole or absent, locks between processes, bounded folders. Knows no models."""

from typing import TYPE_CHECKING

from elmo.lazy import loaded_on_use

if TYPE_CHECKING:
    from elmo.disk.bounded import remove_oldest
    from elmo.disk.cachefolder import cache_directory
    from elmo.disk.differences import first_difference
    from elmo.disk.directories import atomic_directory, clean_up
    from elmo.disk.finding import Finding
    from elmo.disk.locking import locked, locked_alone
    from elmo.disk.writing import atomic_path, errors_naming, write_atomically, write_file

__all__ = [
    "Finding",
    "atomic_directory",
    "atomic_path",
    "cache_directory",
    "clean_up",
    "errors_naming",
    "first_difference",
    "locked",
    "locked_alone",
    "remove_oldest",
    "write_atomically",
    "write_file",
]

__getattr__, __dir__ = loaded_on_use(
    __name__,
    {
        "Finding": "elmo.disk.finding",
        "atomic_directory": "elmo.disk.directories",
        "atomic_path": "elmo.disk.writing",
        "cache_directory": "elmo.disk.cachefolder",
        "clean_up": "elmo.disk.directories",
        "errors_naming": "elmo.disk.writing",
        "first_difference": "elmo.disk.differences",
        "locked": "elmo.disk.locking",
        "locked_alone": "elmo.disk.locking",
        "remove_oldest": "elmo.disk.bounded",
        "write_atomically": "elmo.disk.writing",
        "write_file": "elmo.disk.writing",
    },
)

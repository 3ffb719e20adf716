"""One process trains in a run's directory at a time: two would take each other's checkpoints and metrics away."""

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

from elmo.disk.locking import locked_alone
from elmo.errors import ResumeError, UserError

LOCK_FILE = ".lock"

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def alone_in(run: Path) -> Iterator[None]:
    """Hold a run's directory, which is made if need be; one in which nothing was written is gone afterwards.

    Where the disk knows no locks, a warning is given in place of one.
    """
    run.mkdir(parents=True, exist_ok=True)
    lock = run / LOCK_FILE
    refusal = ResumeError(f"{run}: another process trains here; wait for it or end it, or choose another directory")
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(locked_alone(lock, refusal=refusal))
        except ResumeError:
            raise
        except UserError as error:  # a shared disk of a cluster, say: no reason not to train
            logger.warning("%s, or see to it that no other process trains here", error)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                if [path.name for path in run.iterdir()] in ([], [LOCK_FILE]):
                    lock.unlink(missing_ok=True)
                    run.rmdir()

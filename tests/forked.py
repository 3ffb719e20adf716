"""Work in a forked process that ends with it: the test that forked must not go on twice, whatever the work raises."""

import os
import signal
import sys
import traceback
from collections.abc import Callable

HANGS_AFTER_SECONDS = 600  # a lock that is never freed ends the child


def fork_for(work: Callable[[], bool]) -> int:
    """Begin the work in a forked process, whose number comes back."""
    child = os.fork()
    if child:
        return child
    code = 2
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(HANGS_AFTER_SECONDS)
        code = 0 if work() else 1
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def code_of(child: int) -> int:
    """Wait for a process: 0 if its work gave true, 1 if it did not, 2 if it raised, less than zero if it was killed."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

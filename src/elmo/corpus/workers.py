"""Processes that turn blocks of text into numbers. Each takes requests with their text from its standard input and
answers on its standard output.

They are plain child processes rather than `multiprocessing`'s, which import the caller's main program again (a script
must then be guarded, and a command line that knows torch costs seconds and gigabytes for each worker) and live on when
the caller is killed. These end when their input does.
"""

import contextlib
import importlib
import json
import os
import queue
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO, Any, Protocol

from elmo.errors import ElmoError

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from elmo.corpus.workers import serve; serve(sys.argv[2])"
)

PIPE_BYTES = 1 << 20

Request = dict[str, Any]
Answer = dict[str, Any]
Handler = Callable[[Request, bytes], Answer]


class Workers(Protocol):
    """Something that handles requests."""

    def submit(self, request: Request, text: bytes) -> Future[Answer]: ...

    def close(self) -> None: ...


class OwnProcess:
    """Handles every request at once and here."""

    def __init__(self, handle: Handler) -> None:
        self._handle = handle

    def submit(self, request: Request, text: bytes) -> Future[Answer]:
        future: Future[Answer] = Future()
        try:
            future.set_result(self._handle(request, text))
        except ElmoError as error:
            future.set_exception(error)
        return future

    def close(self) -> None:
        pass


class ChildProcesses:
    """Handles requests in child processes, as many at a time as there are processes."""

    def __init__(self, count: int, *, handler: str = "elmo.corpus.worker:handle") -> None:
        """`handler` is what the processes call: a module and the name of a function in it."""
        self._idle: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()
        self._children = [
            subprocess.Popen(
                [sys.executable, "-c", _START, json.dumps(sys.path), handler],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=PIPE_BYTES,
                start_new_session=True,  # Ctrl-C is for the caller, which ends these processes
            )
            for _ in range(count)
        ]
        for child in self._children:
            _widen(child.stdin, child.stdout)
            self._idle.put(child)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="corpus-worker")

    def submit(self, request: Request, text: bytes) -> Future[Answer]:
        return self._threads.submit(self._ask, request, text)

    def close(self) -> None:
        """End the processes; a request in work is lost."""
        for child in self._children:
            child.kill()
        self._threads.shutdown(cancel_futures=True)
        for child in self._children:
            child.wait()
            for pipe in (child.stdin, child.stdout):
                _close(pipe)

    def _ask(self, request: Request, text: bytes) -> Answer:
        child = self._idle.get()
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            send(child.stdin, request, text)
            line = child.stdout.readline()
        except OSError:
            line = b""
        finally:
            self._idle.put(child)  # also one that has ended, or the next request would wait for it for ever
        if not line:
            raise ElmoError(
                f"a worker process ended with exit code {child.wait()} (negative: killed by that signal, 9 often means "
                "that memory ran out); use fewer workers"
            )
        answer: Answer = json.loads(line)
        if "error" in answer:
            raise ElmoError(answer["error"])
        return answer


def serve(handler: str) -> None:
    """What a child process runs: answer one request after the other until there is no more input."""
    module, name = handler.split(":")
    handle: Handler = getattr(importlib.import_module(module), name)
    requests = sys.stdin.buffer
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        # What anything else prints must not be taken for an answer.
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        with contextlib.suppress(BrokenPipeError):  # the caller was killed
            while received := receive(requests):
                answers.write(json.dumps(_answer(handle, *received)).encode("ascii") + b"\n")
                answers.flush()


def send(pipe: IO[bytes], request: Request, text: bytes) -> None:
    """A request as one line of JSON, which says how many bytes of text follow."""
    pipe.write(json.dumps({**request, "bytes": len(text)}).encode("ascii") + b"\n")
    pipe.write(text)
    pipe.flush()


def receive(pipe: IO[bytes]) -> tuple[Request, bytes] | None:
    """What was sent; nothing at the end."""
    line = pipe.readline()
    if not line.endswith(b"\n"):
        return None
    request: Request = json.loads(line)
    size = request.pop("bytes")
    text = pipe.read(size)
    return (request, text) if len(text) == size else None


def _answer(handle: Handler, request: Request, text: bytes) -> Answer:
    try:
        return handle(request, text)
    except ElmoError as error:
        return {"error": str(error)}
    except Exception as error:  # the caller must hear of it, whatever it is; its own process shows the place
        return {"error": f"a worker failed with {type(error).__name__}: {error}; run with one worker to see where"}


def _widen(*pipes: IO[bytes] | None) -> None:
    """Let pipes hold a whole request or answer: each piece of it would have to wait for its turn among threads."""
    with contextlib.suppress(ImportError, AttributeError, OSError):  # as far as the system can and allows
        import fcntl

        for pipe in filter(None, pipes):
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def _close(pipe: IO[bytes] | None) -> None:
    if pipe is not None:
        with contextlib.suppress(OSError):  # what was still to be sent to an ended process
            pipe.close()

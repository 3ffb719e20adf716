"""A command `elmo` that does not wait for imports: each call is a process of its own, forked from one that has them.

For tests that call many. A script in the place of `elmo` hands its arguments, folder, environment and open files to the
process that was started before, passes signals on, and ends as the command ends. What this cannot show is that a
command imports what it needs.
"""

import contextlib
import gc
import importlib
import importlib.util
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# What commands import that take long to do so; torch.optim asks for the last one.
IMPORTED = (
    "elmo.apps.cli",
    "elmo.embed.embedder",
    "elmo.pretrain.pretraining",
    "elmo.tasks.training.trainer",
    "matplotlib.figure",
    "torch._dynamo",
)

# Read by `python -IS`, which starts at once.
SCRIPT = """#!{python} -IS
import json, os, signal, socket, sys

asked = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [len(asked).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(asked)
    with server.makefile() as answers:
        process = int(answers.readline())
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: os.kill(process, number))
        code = int(answers.readline())
sys.exit(code if code >= 0 else 128 - code)
"""


@contextmanager
def warm_elmo(folder: Path) -> Iterator[Path]:
    """The folder, with an `elmo` for PATH in it. Its name has to be short, as those of sockets are."""
    address, script = folder / "socket", folder / "elmo"
    script.write_text(SCRIPT.format(python=sys.executable, address=str(address)), encoding="utf-8")
    script.chmod(0o755)
    command = [sys.executable, __file__, str(address)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        try:
            yield folder
        finally:
            server.stdin.close()  # as when this process is killed


def serve(address: str) -> None:
    """Fork for each request until the process that began this one is gone, then end; returns in a command to be."""
    for name in IMPORTED:
        if importlib.util.find_spec(name.partition(".")[0]) is not None:  # some environments are without matplotlib
            importlib.import_module(name)
    gc.freeze()  # else a command, when it ends, looks through all of it
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        while select.select([listener, sys.stdin], [], [])[0] == [listener]:
            connection, _ = listener.accept()
            with connection:
                if os.fork() == 0:
                    become_command(connection)
                    return
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    sys.exit()


def become_command(connection: socket.socket) -> None:
    """Fork once more: this process waits and tells how the command ended, the other one takes what it was handed."""
    length, files, _, _ = socket.recv_fds(connection, 8, 3)
    with connection.makefile("rb") as request:
        arguments, folder, environment = json.loads(request.read(int.from_bytes(length, "big")))
    process = os.fork()
    if process:
        connection.sendall(f"{process}\n".encode())
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        connection.sendall(f"{code}\n".encode())
        os._exit(0)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["elmo", *arguments]


if __name__ == "__main__":
    serve(sys.argv[1])
    from elmo.apps.cli import main

    sys.exit(main())

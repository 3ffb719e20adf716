"""Worker processes: answers, errors, an end that does not hang."""

import io
import os
import signal
import sys
from pathlib import Path

import pytest

from elmo.corpus.block import BlockFacts
from elmo.corpus.workers import ChildProcesses, OwnProcess, receive, send
from elmo.errors import ElmoError


def task(path: Path, text: bytes) -> tuple[dict, bytes]:
    options = {"tokenized": True, "tokenizer": {"rule": "whitespace", "language": None}, "documents": "files"}
    return {"path": str(path), "sizes": [len(text)], "sha256": "", **options}, text


def test_children_answer_as_the_own_process_does(tmp_path: Path) -> None:
    from elmo.corpus.worker import handle

    texts = [f"a b c {i}\n".encode() * (i + 1) for i in range(6)]
    own = OwnProcess(handle)
    expected = [own.submit(*task(tmp_path / f"own{i}", text)).result() for i, text in enumerate(texts)]
    children = ChildProcesses(2)
    try:
        futures = [children.submit(*task(tmp_path / f"child{i}", text)) for i, text in enumerate(texts)]
        assert [future.result() for future in futures] == expected
    finally:
        children.close()
    for i in range(6):
        assert (tmp_path / f"own{i}").read_bytes() == (tmp_path / f"child{i}").read_bytes()


def test_errors_come_back_from_a_child_and_it_goes_on(tmp_path: Path) -> None:
    children = ChildProcesses(1)
    try:
        nowhere = children.submit(*task(tmp_path / "nowhere" / "block", b"a\n"))
        wrong = children.submit({"path": "x"}, b"a\n")
        right = children.submit(*task(tmp_path / "block", b"a\n"))
        with pytest.raises(ElmoError, match="nowhere/block: cannot be written"):
            nowhere.result()
        with pytest.raises(ElmoError, match="a worker failed with KeyError"):
            wrong.result()
        assert BlockFacts.from_json(right.result()["facts"]).words == 1
    finally:
        children.close()


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a POSIX signal")
def test_a_child_that_is_killed_is_an_error_and_not_a_wait(tmp_path: Path) -> None:
    children = ChildProcesses(1)
    try:
        children.submit(*task(tmp_path / "block", b"a\n")).result()
        os.kill(children._children[0].pid, signal.SIGKILL)
        answers = [children.submit(*task(tmp_path / "block", b"a\n" * 1_000_000)) for _ in range(3)]
        for answer in answers:
            with pytest.raises(ElmoError, match=r"a worker process ended with exit code -9 .* fewer workers"):
                answer.result()
    finally:
        children.close()


def test_a_task_and_its_text_pass_through_a_pipe() -> None:
    pipe = io.BytesIO()
    send(pipe, {"path": "größe"}, b"\n{}\n")
    send(pipe, {"path": "b"}, b"")
    pipe.seek(0)
    assert receive(pipe) == ({"path": "größe"}, b"\n{}\n")
    assert receive(pipe) == ({"path": "b"}, b"")
    assert receive(pipe) is None


def test_a_task_cut_short_is_no_task() -> None:
    pipe = io.BytesIO()
    send(pipe, {"path": "a"}, b"text")
    whole = pipe.getvalue()
    for size in range(len(whole)):
        assert receive(io.BytesIO(whole[:size])) is None

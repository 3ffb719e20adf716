"""A file that other threads write and hash: its bytes, their hash, and errors where they are waited for."""

import hashlib
import io
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elmo.embed.bulk import keeping
from elmo.embed.bulk.keeping import _Written


def pieces(count: int = 300) -> list[Any]:
    chance = np.random.default_rng(0)
    arrays = [chance.integers(0, 100, (size, 2)).astype(np.int32) for size in chance.integers(0, 9, count)]
    return [array if n % 2 else array.tobytes() for n, array in enumerate(arrays)]


def as_bytes(piece: Any) -> bytes:
    return memoryview(piece).tobytes()


def test_pieces_stand_in_their_order_and_have_the_hash_of_what_was_written(tmp_path: Path) -> None:
    given = pieces()
    with open(tmp_path / "file", "wb") as file:
        output = _Written(file)
        digests = []
        for start in (0, 100, 200):
            assert [output.write(piece) for piece in given[start : start + 100]] == [
                len(as_bytes(piece)) for piece in given[start : start + 100]
            ]
            digests.append(output.digest())
        assert output.tell() == sum(len(as_bytes(piece)) for piece in given)
        output.seek(0)
        output.write(b"head")
        output.close()
    whole = b"".join(map(as_bytes, given))
    assert (tmp_path / "file").read_bytes() == b"head" + whole[4:]
    parts = [b"".join(map(as_bytes, given[start : start + 100])) for start in (0, 100, 200)]
    assert digests == [hashlib.sha256(part).hexdigest() for part in parts]


class Slow(io.BytesIO):
    """A file that writes nothing until it may, and fails at one of its pieces."""

    name = "slow"

    def __init__(self, *, fails_at: bytes = b"never") -> None:
        super().__init__()
        self.may, self.fails_at = threading.Event(), fails_at

    def write(self, data: Any) -> int:
        assert self.may.wait(30)
        if bytes(data) == self.fails_at:
            raise OSError(28, "No space left on device")
        return super().write(data)


def test_no_more_pieces_wait_than_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "MOST_UNDER_WAY", 3)
    file = Slow()
    output = _Written(file)  # type: ignore[arg-type]
    given: list[int] = []

    def write() -> None:
        for n in range(10):
            output.write(bytes([n]))
            given.append(n)

    thread = threading.Thread(target=write)
    thread.start()
    thread.join(0.3)
    assert given == [0, 1, 2]  # the fourth waits for the first
    file.may.set()
    thread.join(30)
    output.flush()
    assert file.getvalue() == bytes(range(10))
    output.close()


def test_a_disk_that_is_full_is_told_at_the_latest_when_all_is_waited_for() -> None:
    file = Slow(fails_at=b"b")
    file.may.set()
    output = _Written(file)  # type: ignore[arg-type]
    for piece in (b"a", b"b", b"c"):
        output.write(piece)
    with pytest.raises(OSError, match="No space left"):
        output.flush()
    output.close()
    assert not any(thread.name.startswith(("elmo-write", "elmo-hash")) for thread in threading.enumerate())

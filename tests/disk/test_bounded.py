"""A bounded folder loses the files used longest ago, and no more than it must."""

import os
from pathlib import Path

from elmo.disk.bounded import remove_oldest


def test_the_oldest_go_until_the_rest_fits(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("b", "a", "c")]
    for age, path in enumerate(paths):
        path.write_bytes(bytes(10))
        os.utime(path, (age, age))
    assert remove_oldest([*paths, tmp_path / "gone"], most_bytes=20) == [tmp_path / "b"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "c"]
    assert remove_oldest(paths, most_bytes=-1) == [tmp_path / "a", tmp_path / "c"]

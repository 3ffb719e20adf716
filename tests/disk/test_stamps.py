"""Stamps change with the files that they are of."""

from pathlib import Path

from elmo.disk.stamps import stamp_of


def test_a_stamp_changes_when_a_file_is_written_comes_or_goes(tmp_path: Path) -> None:
    one = tmp_path / "one"
    one.write_bytes(b"a")
    (tmp_path / "folder").mkdir()
    seen = [stamp_of(tmp_path)]
    assert seen[0] == stamp_of(tmp_path)
    assert seen[0] == stamp_of(one)
    one.write_bytes(b"ab")
    seen.append(stamp_of(tmp_path))
    (tmp_path / "two").touch()
    seen.append(stamp_of(tmp_path))
    one.unlink()
    seen.append(stamp_of(tmp_path))
    assert len(set(seen)) == 4

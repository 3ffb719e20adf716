"""The folder of what can be made again, and who can write there."""

import os
from pathlib import Path

import pytest

from elmo.disk import cachefolder
from elmo.disk.cachefolder import make_private, why_not_private

modes = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")


@pytest.mark.parametrize(
    ("platform", "variables", "wanted"),
    [
        ("linux", {"ELMO_CACHE": "/a"}, "/a"),
        ("linux", {"XDG_CACHE_HOME": "/b"}, "/b/elmo"),
        ("linux", {}, "/home/me/.cache/elmo"),
        ("darwin", {}, "/home/me/Library/Caches/elmo"),
        ("win32", {"LOCALAPPDATA": "/c"}, "/c/elmo/cache"),
    ],
)
def test_the_cache_is_where_the_platform_keeps_caches(platform, variables, wanted, monkeypatch):
    for name in ("ELMO_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(cachefolder.sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/me"))
    assert cachefolder.cache_directory() == Path(wanted)


@modes
def test_what_only_its_owner_can_write_is_private(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    for mode in (0o600, 0o755, 0o444):
        file.chmod(mode)
        assert why_not_private(file) is None


@modes
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o775, 0o606])
def test_what_others_can_write_is_not_private_until_it_is_made_so(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    assert f"mode {mode:o}" in str(why_not_private(tmp_path))
    make_private(tmp_path)
    assert why_not_private(tmp_path) is None


@modes
def test_what_another_user_owns_is_not_private_but_the_administrators_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.stat

    def owned_by(uid: int) -> None:
        def changed(path: Path, **options: bool) -> os.stat_result:
            facts = list(real(path, **options))
            facts[4] = uid
            return os.stat_result(facts)

        monkeypatch.setattr(Path, "stat", changed)

    owned_by(os.geteuid() + 1)
    assert f"belongs to user {os.geteuid() + 1}" in str(why_not_private(tmp_path))
    owned_by(0)
    assert why_not_private(tmp_path) is None

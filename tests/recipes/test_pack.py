"""Texts in parts for another machine: nothing is lost, no part is too large, each has a little of each text."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from recipes.english import pack
from recipes.english.documents import read_documents, write_documents

from elmo.text.lines import read_lines


@pytest.fixture
def texts(tmp_path: Path) -> list[Path]:
    draw = random.Random(1)
    for name in ("white_house", "wikinews"):
        documents = [[f"{name} {n} {draw.random()}", "and more"] for n in range(3000)]
        write_documents(tmp_path / f"{name}.txt", documents)
    return [tmp_path / "white_house.txt", tmp_path / "wikinews.txt"]


def test_pieces_are_whole_documents(texts: list[Path], tmp_path: Path) -> None:
    found = list(pack.pieces(texts[0], 10_000))
    assert b"".join(found) == texts[0].read_bytes()
    assert all(10_000 <= len(piece) < 10_100 for piece in found[:-1])
    for piece in found:
        (tmp_path / "piece.txt").write_bytes(piece)
        assert all(len(document) == 2 for document in read_documents(tmp_path / "piece.txt"))


def test_parts_hold_everything_and_are_small_enough(
    texts: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pack, "PIECE", 8_000)
    limit = 30_000
    parts = tmp_path / "parts"
    pack.main([*map(str, texts), "--into", str(parts), "--mib", str(limit / (1 << 20))])
    folders = sorted(parts.iterdir())
    assert len(folders) > 2
    assert len(capsys.readouterr().out.splitlines()) == len(folders)
    for folder in folders:
        assert sum(path.stat().st_size for path in folder.iterdir()) <= limit
    for folder in folders[:-1]:
        assert {path.name.partition("-")[0] for path in folder.iterdir()} == {"white_house", "wikinews"}
    for text in texts:
        files = sorted(parts.glob(f"*/{text.stem}-*.txt.xz"), key=lambda path: path.name)
        lines = [line for path in files for _, line in read_lines(str(path))]
        assert lines == text.read_text("utf-8").splitlines()


def test_what_cannot_be_packed_is_told(texts: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"-000.txt.xz: has .* bytes alone, but a part may have 1,048; allow more MiB"):
        pack.main([*map(str, texts), "--into", str(tmp_path / "parts"), "--mib", "0.001"])
    with pytest.raises(SystemExit):
        pack.main([*map(str, texts), "--into", str(tmp_path)])
    assert "is there already" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("7zz") is None, reason="needs the program 7zz")
def test_seven_zip_gives_the_text_back(texts: list[Path], tmp_path: Path) -> None:
    pack.main([str(texts[0]), "--into", str(tmp_path / "parts"), "--form", "7z"])
    archive = tmp_path / "parts" / "01" / "white_house-000.7z"
    subprocess.run(["7zz", "x", "-bso0", f"-o{tmp_path}/back", str(archive)], check=True)
    assert (tmp_path / "back" / "white_house-000.txt").read_bytes() == texts[0].read_bytes()

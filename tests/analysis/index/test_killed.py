"""A build of an index killed at a file operation and resumed: it leaves what an undisturbed one leaves."""

from functools import partial
from pathlib import Path

import pytest
from tests.killing import contents, points, run

from elmo.analysis.index import build_index, parts

TEXT = "We sat on the bank.\nThe bank was steep!\n\nNobody came to the bank.\nThe mat lay there.\nYes\n"


def build(embedder, folder: Path, *, resume: bool = False) -> int:
    return len(build_index(embedder, [str(folder / "text.txt")], folder / "index", layers="all", resume=resume))


@pytest.mark.parametrize("most", [8, pytest.param(None, marks=[pytest.mark.slow, pytest.mark.timeout(0)])])
def test_a_build_killed_anywhere_and_resumed_leaves_what_an_undisturbed_one_leaves(
    embedder, tmp_path, monkeypatch, most
):
    monkeypatch.setattr(parts, "SENTENCES_IN_PART", 2)

    def begin(name: str) -> Path:
        place = tmp_path / name
        place.mkdir()
        (place / "text.txt").write_text(TEXT, encoding="utf-8")
        monkeypatch.chdir(place)
        return Path()

    done = run(partial(build, embedder, begin("straight")), within=tmp_path / "straight")
    assert done.result == 23, done.error or done.said
    wanted = contents(tmp_path / "straight")
    assert {name.split("/")[0] for name in wanted} == {"index", "text.txt"}
    for n in points(len(done.operations), most=most):
        place = begin(str(n))
        at = f"killed before operation {n}, {done.operations[n]}"
        assert run(partial(build, embedder, place), within=tmp_path / str(n), kill_at=n).killed, at
        resumed = run(partial(build, embedder, place, resume=True), within=tmp_path / str(n))
        assert resumed.result == 23, f"{at}: {resumed.error or resumed.said}"
        assert contents(tmp_path / str(n)) == wanted, at

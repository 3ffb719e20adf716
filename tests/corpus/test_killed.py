"""A corpus build killed at a file operation and resumed leaves the store of an undisturbed one, and nothing else."""

from functools import partial
from pathlib import Path

import pytest
from tests.killing import contents, points, run

from elmo.apps.cli import main
from elmo.corpus.bar import Moment
from elmo.corpus.build import build_corpus

SOME = 8  # points of the sweep in the suite; all of them are marked slow
TEXT = "".join(f"word{n % 17} and {n % 5} more words .\n" for n in range(60))


def quiet(_: Moment) -> None:
    pass


def build(text: Path, store: Path, *, resume: bool = False) -> int:
    made = build_corpus([text], store, tokenized=True, workers=1, block_bytes=600, resume=resume, progress=quiet)
    return made.counts["train"].sentences


def sweep(folder: Path, *, most: int | None) -> None:
    text = folder / "text"
    text.write_text(TEXT, encoding="utf-8")
    straight = folder / "straight"
    straight.mkdir()
    done = run(partial(build, text, straight / "store"), within=straight)
    assert done.result, done.error
    wanted = contents(straight)
    assert {name.split("/")[0] for name in wanted} == {"store"}
    for n in points(len(done.operations), most=most):
        place = folder / str(n)
        place.mkdir()
        at = f"killed before operation {n}, {done.operations[n]}"
        assert run(partial(build, text, place / "store"), within=place, kill_at=n).killed, at
        resumed = run(partial(build, text, place / "store", resume=True), within=place)
        assert resumed.result == done.result, f"{at}: {resumed.error}"
        assert contents(place) == wanted, at


def test_a_build_killed_anywhere_and_resumed_leaves_what_an_undisturbed_one_leaves(tmp_path: Path) -> None:
    sweep(tmp_path, most=SOME)


@pytest.mark.slow
@pytest.mark.timeout(0)  # some eighty processes, each of which has a limit of its own
def test_every_point_of_a_build(tmp_path: Path) -> None:
    sweep(tmp_path, most=None)


def test_resuming_a_finished_build_says_so_and_cleans_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text(TEXT, encoding="utf-8")
    command = ["corpus", "build", str(tmp_path / "text"), "-o", str(tmp_path / "store"), "--tokenized"]
    assert main(command) == 0
    (tmp_path / "store.building" / "blocks").mkdir(parents=True)  # killed before it was removed
    capsys.readouterr()
    assert main([*command, "--resume"]) == 0
    assert "store: is finished already; nothing to resume" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store", "text"]


def test_blocks_without_the_plan_they_were_made_by_are_not_used(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text(TEXT, encoding="utf-8")
    killed = run(partial(build, text, tmp_path / "store"), within=tmp_path, kill_at=40)
    assert killed.killed
    blocks = tmp_path / "store.building" / "blocks"
    made = {path.name: path.stat().st_ino for path in blocks.glob("*.safetensors")}
    assert made, killed.operations
    (tmp_path / "store.building" / "plan.json").unlink()
    again = run(partial(build, text, tmp_path / "store", resume=True), within=tmp_path)
    assert sum("os.rename store.building/blocks" in operation for operation in again.operations) == len(made)

"""`elmo embed` killed at a file operation and resumed: it leaves what an undisturbed run leaves, and nothing else."""

from functools import partial
from pathlib import Path

import pytest
from tests.killing import contents, points, run

import elmo.embed.bulk as bulk
from elmo.apps.cli import main

FORMATS = [".hdf5", ".parquet", ".npz", ".jsonl"]
LINES = ["I sat on the river bank .", "", "The bank approved my loan .", "naïve 漢字 😀", "Yes", "No .", "A loan"]
SOME = 7  # points of a sweep in the suite; all of them are marked slow


def embed(folder: Path, model: Path, output: str, *more: str) -> int:
    text = folder / "text.txt"
    if not text.exists():
        folder.mkdir(exist_ok=True)
        text.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return main(["embed", str(text), "-o", str(folder / output), "-m", str(model), "--device", "cpu", *more])


def sweep(folder: Path, model: Path, output: str, *more: str, before: str | None = None, most: int | None) -> None:
    """Kill at each point and resume; with `before`, an earlier output is in the way and overwritten."""

    def prepare(place: Path) -> Path:
        place.mkdir()
        if before is not None:
            (place / output).write_text(before, encoding="utf-8")
        return place

    straight = prepare(folder / "straight")
    done = run(partial(embed, straight, model, output, *more), within=straight)
    assert done.result == 0, done.error or done.said
    wanted = contents(straight)
    assert set(wanted) == {"text.txt", output}
    for n in points(len(done.operations), most=most):
        place = prepare(folder / str(n))
        at = f"killed before operation {n}, {done.operations[n]}"
        assert run(partial(embed, place, model, output, *more), within=place, kill_at=n).killed, at
        resumed = run(partial(embed, place, model, output, *more, "--resume"), within=place)
        assert resumed.result == 0, f"{at}: {resumed.error or resumed.said}"
        assert contents(place) == wanted, at


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "LINES_IN_PART", 3)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("suffix", FORMATS)
def test_an_embedding_killed_anywhere_and_resumed_leaves_what_an_undisturbed_one_leaves(
    suffix: str, model_directory: Path, tmp_path: Path
) -> None:
    sweep(tmp_path, model_directory, f"out{suffix}", most=SOME)


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("suffix", FORMATS)
def test_every_point_of_an_embedding(suffix: str, model_directory: Path, tmp_path: Path) -> None:
    sweep(tmp_path, model_directory, f"out{suffix}", most=None)


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("suffix", FORMATS)
def test_every_point_of_an_embedding_that_replaces_an_earlier_one(
    suffix: str, model_directory: Path, tmp_path: Path
) -> None:
    sweep(tmp_path, model_directory, f"out{suffix}", "--overwrite", before="an earlier output", most=None)

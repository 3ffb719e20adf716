"""`elmo embed` killed at a file operation and resumed: it leaves what an undisturbed run leaves, and nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.killing import contents, points, run

import elmo.embed.bulk.parts as bulk_parts
import elmo.embed.bulk.ray_engine as ray_engine
from elmo.apps.cli import main
from elmo.embed.bulk.options import BulkOptions

FORMATS = [".hdf5", ".parquet", ".arrow", ".safetensors", ".npz", ".jsonl"]
LINES = ["I sat on the river bank .", "", "The bank approved my loan .", "naïve 漢字 😀", "Yes", "No .", "A loan"]
SOME = 6  # points of a sweep in the suite; all of them are marked slow


def prepare(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "text.txt").write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return folder


def embed(folder: Path, model: Path, output: str, *more: str) -> int:
    text = str(folder / "text.txt")
    return main(["embed", text, "-o", str(folder / output), "-m", str(model), "--device", "cpu", *more])


def sweep(folder: Path, model: Path, output: str, *more: str, before: str | None = None, most: int | None) -> None:
    """Kill at each point and resume; with `before`, an earlier output is in the way and overwritten."""

    def begin(name: str) -> Path:
        place = prepare(folder / name)
        if before is not None:
            (place / output).write_text(before, encoding="utf-8")
        return place

    straight = begin("straight")
    done = run(partial(embed, straight, model, output, *more), within=straight)
    assert done.result == 0, done.error or done.said
    wanted = contents(straight)
    assert set(wanted) == {"text.txt", output}
    for n in points(len(done.operations), most=most):
        place = begin(str(n))
        at = f"killed before operation {n}, {done.operations[n]}"
        assert run(partial(embed, place, model, output, *more), within=place, kill_at=n).killed, at
        resumed = run(partial(embed, place, model, output, *more, "--resume"), within=place)
        assert resumed.result == 0, f"{at}: {resumed.error or resumed.said}"
        assert contents(place) == wanted, at


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_parts, "LINES_IN_PART", 3)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("suffix", FORMATS)
def test_an_embedding_killed_anywhere_and_resumed_leaves_what_an_undisturbed_one_leaves(
    suffix: str, model_directory: Path, tmp_path: Path
) -> None:
    sweep(tmp_path, model_directory, f"out{suffix}", most=SOME)


@pytest.mark.slow
@pytest.mark.timeout(0)  # some eighty processes, each of which has a limit of its own
@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("suffix", FORMATS)
def test_every_point_of_an_embedding(suffix: str, model_directory: Path, tmp_path: Path) -> None:
    sweep(tmp_path, model_directory, f"out{suffix}", most=None)


@pytest.mark.slow
@pytest.mark.timeout(0)  # some eighty processes, each of which has a limit of its own
@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("suffix", FORMATS)
def test_every_point_of_an_embedding_that_replaces_an_earlier_one(
    suffix: str, model_directory: Path, tmp_path: Path
) -> None:
    sweep(tmp_path, model_directory, f"out{suffix}", "--overwrite", before="an earlier output", most=None)


def test_resuming_a_finished_embedding_says_so_and_changes_nothing(
    model_directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert embed(prepare(tmp_path), model_directory, "out.jsonl") == 0
    before = contents(tmp_path)
    capsys.readouterr()
    assert embed(tmp_path, model_directory, "out.jsonl", "--resume") == 0
    assert capsys.readouterr().err == f"{tmp_path / 'out.jsonl'}: is finished already; nothing to resume\n"
    assert contents(tmp_path) == before


def test_an_output_that_is_not_known_to_be_of_the_job_is_not_called_finished(
    model_directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert embed(prepare(tmp_path), model_directory, "out.jsonl") == 0
    assert embed(tmp_path, model_directory, "out.jsonl", "--layers", "top", "--resume") == 2
    assert "out.jsonl: exists already and is of another job: options.layers was" in capsys.readouterr().err
    with open(tmp_path / "text.txt", "a", encoding="utf-8") as text:
        text.write("a line more\n")
    assert embed(tmp_path, model_directory, "out.jsonl", "--resume") == 2
    assert "is of another job: inputs." in capsys.readouterr().err
    for garbage in ("garbage", ""):
        (tmp_path / "out.jsonl").write_text(garbage)
        assert embed(tmp_path, model_directory, "out.jsonl", "--resume") == 2
        assert "out.jsonl: exists already and is not known to be what this job makes" in capsys.readouterr().err
        assert (tmp_path / "out.jsonl").read_text() == garbage


@pytest.mark.usefixtures("small_parts")
def test_resuming_never_replaces_an_output_of_somebody_else(
    model_directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work = partial(embed, prepare(tmp_path), model_directory, "out.jsonl")
    operations = run(work, within=tmp_path).operations
    renamed = operations.index("os.rename out.jsonl.parts/output")
    for n in (renamed - 8, renamed):  # in the middle, and when the output is complete and has not got its name
        (tmp_path / "out.jsonl").unlink()
        assert run(work, within=tmp_path, kill_at=n).killed
        (tmp_path / "out.jsonl").write_text("precious")
        assert embed(tmp_path, model_directory, "out.jsonl", "--resume") == 2
        assert "out.jsonl: exists already; choose another name or add --overwrite" in capsys.readouterr().err
        assert (tmp_path / "out.jsonl").read_text() == "precious"
        assert embed(tmp_path, model_directory, "out.jsonl", "--resume", "--overwrite") == 0
        assert (tmp_path / "out.jsonl").read_text() != "precious"
        assert set(contents(tmp_path)) == {"out.jsonl", "text.txt"}


@pytest.mark.usefixtures("small_parts")
def test_an_output_taken_away_before_the_cleaning_up_is_made_again(model_directory: Path, tmp_path: Path) -> None:
    work = partial(embed, prepare(tmp_path), model_directory, "out.jsonl")
    operations = run(work, within=tmp_path).operations
    wanted = contents(tmp_path)
    (tmp_path / "out.jsonl").unlink()
    assert run(work, within=tmp_path, kill_at=operations.index("os.rename out.jsonl.parts/output") + 3).killed
    (tmp_path / "out.jsonl").unlink()
    assert embed(tmp_path, model_directory, "out.jsonl", "--resume") == 0
    assert contents(tmp_path) == wanted


@pytest.mark.parametrize("most", [5, pytest.param(None, marks=[pytest.mark.slow, pytest.mark.timeout(0)])])
def test_shards_killed_anywhere_and_resumed_are_those_of_an_undisturbed_run(
    most: int | None, model_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work_here(
        _: None,
        shards: Sequence[ray_engine.Shard],
        folder: Path,
        settings: Mapping[str, Any],
        options: BulkOptions,
        __: object,
        source: str,
    ) -> Iterator[int]:
        worker = ray_engine.EmbedShard(str(folder), settings, options, 1, source=source)
        for shard in shards:
            yield worker(vars(shard))["number"]

    monkeypatch.setattr(ray_engine, "_import_ray", lambda: None)
    monkeypatch.setattr(ray_engine, "_run", work_here)  # a worker in this process, where its operations are seen
    text = prepare(tmp_path) / "text.txt"

    def embed_shards(place: Path, *more: str) -> int:
        command = ["embed", str(text), "-o", str(place / "out"), "-m", str(model_directory), "--device", "cpu"]
        return main([*command, "--engine", "ray", "--shard-lines", "3", *more])

    straight = tmp_path / "straight"
    done = run(partial(embed_shards, straight), within=straight)
    assert done.result == 0, done.error or done.said
    for n in points(len(done.operations), most=most):
        place = tmp_path / str(n)
        at = f"killed before operation {n}, {done.operations[n]}"
        assert run(partial(embed_shards, place), within=place, kill_at=n).killed, at
        resumed = run(partial(embed_shards, place, "--resume"), within=place)
        assert resumed.result == 0, f"{at}: {resumed.error or resumed.said}"
        assert contents(place) == contents(straight), at

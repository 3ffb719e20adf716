"""Bulk embedding on Ray: shards, resuming, and a worker that is killed in the middle."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from elmo.embed.bulk import ray_engine
from elmo.embed.bulk.options import BulkOptions
from elmo.embed.bulk.ray_engine import Cluster, EmbedShard, Shard, embed_with_ray, lines_of_shard, plan
from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError, ElmoError, InputError, ResumeError
from elmo.text.lines import read_lines

has_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="the extra `ray` is not installed")
posix = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a POSIX signal")
WORDS = [
    "the",
    "bank",
    "approved",
    "a",
    "loan",
    "on",
    "a",
    "river",
    "in",
    "spring",
    "naïve",
    "漢字",
    "play",
    "right",
    ".",
]


def sentence(n: int) -> str:
    return " ".join(WORDS[(n * k + k) % len(WORDS)] for k in range(1, n % 9 + 1))


def make_corpus(folder: Path, *, lines: int) -> Path:
    folder.mkdir()
    (folder / "a.txt").write_text("".join(f"{sentence(n)}\n" for n in range(lines)), encoding="utf-8")
    (folder / "b.txt").write_bytes(b"\xef\xbb\xbfwith a mark\r\n\r\nno end at the end")
    (folder / "empty.txt").write_text("", encoding="utf-8")
    return folder


def test_the_shards_hold_every_line_once(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", lines=25)
    shards = plan(str(corpus), lines_in_shard=10)
    assert [(Path(s.file).name, s.first_line) for s in shards] == [
        ("a.txt", 0),
        ("a.txt", 10),
        ("a.txt", 20),
        ("b.txt", 0),
    ]
    for name in ("a.txt", "b.txt"):
        found = [line for s in shards if s.file.endswith(name) for line in lines_of_shard(s)]
        assert found == [line for _, line in read_lines(corpus / name)]


def test_a_worker_makes_a_shard_that_equals_encode(tmp_path: Path, model_directory: Path, embedder: Embedder) -> None:
    corpus = make_corpus(tmp_path / "corpus", lines=25)
    worker = EmbedShard(
        str(tmp_path), {"name_or_path": str(model_directory), "device": "cpu"}, BulkOptions(), 1, source=str(corpus)
    )
    shard = plan(str(corpus), lines_in_shard=10)[1]
    worker(vars(shard))
    table = pyarrow.parquet.read_table(tmp_path / shard.name)
    assert table["line"].to_pylist() == list(range(10, 20))
    assert set(table["file"].to_pylist()) == {shard.file}
    texts = table["text"].to_pylist()
    assert texts == [sentence(n) for n in range(10, 20)]
    for vectors, expected in zip(table["vectors"].to_pylist(), embedder.encode(texts), strict=True):
        np.testing.assert_allclose(np.array(vectors).reshape(expected.shape), expected, rtol=0, atol=1e-5)


def test_a_shard_that_is_there_is_not_made_again(tmp_path: Path, model_directory: Path) -> None:
    shard = Shard(number=3, file="nowhere.txt", first_line=0, start=0, stop=5)
    (tmp_path / shard.name).write_bytes(b"made before")
    worker = EmbedShard(
        str(tmp_path), {"name_or_path": str(model_directory), "device": "cpu"}, BulkOptions(), 1, source="here"
    )
    assert worker(vars(shard)) == {"number": 3}
    assert (tmp_path / shard.name).read_bytes() == b"made before"


def test_a_shard_that_fails_leaves_nothing(tmp_path: Path, model_directory: Path) -> None:
    source = tmp_path / "corpus" / "a.txt"
    source.parent.mkdir()
    source.write_bytes(b"good\nb\xffd\n")
    output = tmp_path / "output"
    output.mkdir()
    worker = EmbedShard(
        str(output), {"name_or_path": str(model_directory), "device": "cpu"}, BulkOptions(), 1, source=str(source)
    )
    with pytest.raises(InputError, match="line 2 is not UTF-8"):
        worker(vars(plan(str(source.parent), lines_in_shard=10)[0]))
    assert not list(output.iterdir())


GUARD = 400  # seconds; only against a hang: Ray starts a dozen processes, and busy machines take minutes for them


def start(
    corpus: Path, output: Path, model: Path, *more: str, program: Sequence[str] = ("-m", "elmo"), died: Path = Path()
) -> subprocess.Popen[str]:
    command = [sys.executable, *program, "embed", str(corpus), "-o", str(output), "-m", str(model), "--engine", "ray"]
    command += ["--workers", "2", "--worker-cpus", "1", "--shard-lines", "500", "--device", "cpu", *more]
    # Two CPUs, however many the machine has; and no report to the makers of Ray.
    environment = {
        **os.environ,
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_OVERRIDE_RESOURCES": '{"CPU": 2}',
        "DIED": str(died),
    }
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def run_to_end(process: subprocess.Popen[str]) -> tuple[int, str]:
    with process:  # a test that fails here leaves nothing open for the next one
        try:
            said, _ = process.communicate(timeout=GUARD)
        finally:
            process.kill()
    return process.returncode, said


# A worker that dies in the middle of a shard, once. A class of `__main__` goes to the workers as it stands here.
DYING = """
import os, pathlib, signal, sys
from elmo.apps.cli import main
from elmo.embed.bulk import ray_engine

class EmbedShard(ray_engine.EmbedShard):
    def _parts(self, shard):
        for n, part in enumerate(super()._parts(shard)):
            if (shard.number, n) == (3, 0):
                try:
                    pathlib.Path(os.environ["DIED"]).touch(exist_ok=False)
                except FileExistsError:
                    pass
                else:
                    os.kill(os.getpid(), signal.SIGKILL)
            yield part

ray_engine.EmbedShard = EmbedShard
sys.exit(main())
"""


@has_ray
@posix
@pytest.mark.timeout(3 * GUARD)
def test_a_killed_worker_loses_and_doubles_nothing_and_a_missing_shard_is_made_again(
    tmp_path: Path, model_directory: Path, embedder: Embedder
) -> None:
    corpus, output = make_corpus(tmp_path / "corpus", lines=3000), tmp_path / "vectors"
    died = tmp_path / "died"
    code, said = run_to_end(start(corpus, output, model_directory, program=["-c", DYING], died=died))
    assert code == 0, said
    assert died.exists()
    assert len(list(output.glob("part-*.parquet"))) == 7
    table = pyarrow.parquet.read_table(output)
    rows = sorted(zip(table["file"].to_pylist(), table["line"].to_pylist(), table["text"].to_pylist(), strict=True))
    wanted = [(str(corpus / "a.txt"), n, sentence(n)) for n in range(3000)]
    wanted += [(str(corpus / "b.txt"), n - 1, line) for n, line in read_lines(corpus / "b.txt")]
    assert rows == wanted
    place = table["line"].to_pylist().index(2321)
    expected = embedder.encode(sentence(2321))
    np.testing.assert_allclose(np.array(table["vectors"][place].as_py()).reshape(expected.shape), expected, atol=1e-5)

    whole = {path.name: path.read_bytes() for path in output.glob("part-*.parquet")}
    kept = (output / "part-000000.parquet").stat().st_mtime_ns
    (output / "part-000001.parquet").unlink()
    assert run_to_end(start(corpus, output, model_directory, "--resume"))[0] == 0
    assert (output / "part-000000.parquet").stat().st_mtime_ns == kept
    assert {path.name: path.read_bytes() for path in output.glob("part-*.parquet")} == whole


def test_a_job_that_is_not_the_same_is_not_resumed(
    tmp_path: Path, model_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_engine, "_import_ray", object)
    monkeypatch.setattr(ray_engine, "_run", stopped)
    corpus, output = str(make_corpus(tmp_path / "corpus", lines=30)), str(tmp_path / "out")
    settings = {"model": str(model_directory), "options": BulkOptions(), "device": "cpu", "lines_in_shard": 10}
    with pytest.raises(KeyboardInterrupt):
        embed_with_ray(corpus, output, **settings)
    with pytest.raises(ResumeError, match="continue with --resume"):
        embed_with_ray(corpus, output, **settings)
    with pytest.raises(ResumeError, match=r"options\.layers was 'mean' and is 'top' now"):
        embed_with_ray(corpus, output, resume=True, **settings | {"options": BulkOptions(layers="top")})
    with pytest.raises(ResumeError, match=r"options\.split_sentences was True and is False now"):
        embed_with_ray(corpus, output, resume=True, **settings | {"options": BulkOptions(split_sentences=False)})
    (tmp_path / "corpus" / "a.txt").write_text("changed\n", encoding="utf-8")
    with pytest.raises(ResumeError, match=r"files\..*a\.txt.* was .* and is .* now"):
        embed_with_ray(corpus, output, resume=True, **settings)
    (tmp_path / "corpus" / "a.txt").unlink()
    with pytest.raises(ResumeError, match=r"files\..*a\.txt.* was .* and is None now"):
        embed_with_ray(corpus, output, resume=True, **settings)


def test_a_folder_of_somebody_else_is_left_alone(
    tmp_path: Path, model_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_engine, "_import_ray", object)
    corpus, other = (make_corpus(tmp_path / name, lines=3) for name in ("corpus", "other"))
    options = {"model": str(model_directory), "options": BulkOptions(), "resume": True}
    with pytest.raises(ResumeError, match="was not made by `elmo embed`"):
        embed_with_ray(str(corpus), str(other), **options)
    with pytest.raises(InputError, match="is the text that is read"):
        embed_with_ray(str(corpus), str(corpus), **options)


def test_a_carried_state_is_refused(model_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_engine, "_import_ray", object)
    with pytest.raises(ConfigError, match="shards are embedded apart"):
        embed_with_ray("x", "y", model=str(model_directory), options=BulkOptions(), state="carry")


def stopped(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_ray_that_does_not_start_is_told_in_a_line(tmp_path: Path) -> None:
    calls = []

    class Ray:
        def is_initialized(self) -> bool:
            return False

        def init(self, **_: object) -> None:
            raise RuntimeError("The current node timed out during startup. This could happen because it is busy.")

        def shutdown(self) -> None:
            calls.append("shutdown")

    with pytest.raises(
        ElmoError, match=r"Ray could not be started: The current node timed out.*; .*: go on with --resume"
    ):
        list(ray_engine._run(Ray(), [], tmp_path, {}, BulkOptions(), Cluster(), "text.txt"))
    assert calls == ["shutdown"]


def test_the_cause_is_the_exception_and_not_the_advice_behind_it() -> None:
    text = (
        "ray::Map(EmbedShard)() (pid=1)\n  File 'a.py', line 3\n"
        "elmo.errors.ElmoError: /o/shard: cannot be written: full\n"
        "To change retry attempts, backoff, or which errors are retried, configure something."
    )
    assert ray_engine._cause(RuntimeError(text)) == "/o/shard: cannot be written: full"
    assert ray_engine._cause(RuntimeError("the actor died")) == "the actor died"
    assert ray_engine._cause(RuntimeError()) == "RuntimeError"


def test_what_a_killed_run_leaves_is_known_for_a_temporary() -> None:
    names = ["._job.json.tmp-0123456789ab", ".part-000001.parquet.17.tmp", ".part-000001.parquet.tmp-0123456789ab"]
    assert all(ray_engine.TEMPORARY.fullmatch(name) for name in names)
    assert not ray_engine.TEMPORARY.fullmatch("part-000001.parquet")

"""Bulk embedding on Ray Data: a directory of text to a directory of Parquet shards, on all machines of a cluster.

The plan cuts every file into shards of whole lines. A shard is embedded by one worker, appears under its name only when
it is complete, and is the same whoever makes it: a worker that dies costs its shard a second try, and a run that is
interrupted goes on with the shards that are missing. `_job.json` says what the job is. Needs the extra `ray`.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from elmo.disk.differences import first_difference
from elmo.disk.guarded.plainfiles import read_json
from elmo.disk.locking import locked_alone
from elmo.disk.writing import atomic_path, errors_naming, write_file
from elmo.embed.bulk.journal import other_at_work
from elmo.embed.bulk.memory import PartMemory
from elmo.embed.bulk.options import BulkOptions
from elmo.embed.bulk.parts import embed_part, parts_of, shape_of, tokenizing_workers
from elmo.embed.bulk.pipeline import ahead
from elmo.embed.bulk.progress import PACKED
from elmo.embed.bulk.writers.columns import import_pyarrow
from elmo.embed.bulk.writers.formats import write_whole
from elmo.embed.bulk.writers.part import EmbeddedPart
from elmo.embed.bulk.writers.row import Line
from elmo.embed.choices import Precision
from elmo.embed.embedder import Embedder
from elmo.embed.loading import load
from elmo.embed.selection import check_layers
from elmo.errors import ConfigError, ElmoError, InputError, MissingExtraError, ResumeError
from elmo.model.choices import StateMode
from elmo.text.lines import expand_paths, read_lines, refuse_output_in_source
from elmo.weights.published.offline import is_offline

JOB_FILE, LOCK_FILE = "_job.json", "_lock"  # readers of Parquet directories skip names with an underscore
LINES_IN_SHARD = 10_000
TRIES = 5  # of one shard, where its worker dies
TEMPORARY = re.compile(r"\.(part-\d+\.parquet|_job\.json)\.(\d+\.tmp|tmp-[0-9a-f]+|[0-9a-f]+)")


@dataclass(frozen=True, kw_only=True)
class Shard:
    """A range of lines of one file: bytes `start` to `stop`, or all of a compressed one (`stop` is None)."""

    number: int
    file: str  # as its name was given
    first_line: int
    start: int
    stop: int | None
    path: str = ""  # where every worker finds it, if not at `file`

    @property
    def name(self) -> str:
        """The file that holds its vectors."""
        return f"part-{self.number:06d}.parquet"


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """How the work is spread: `workers` processes (None: as many as fit), each with so many CPUs and GPUs."""

    workers: int | None = None
    worker_cpus: int = 2
    worker_gpus: float = 0


def embed_with_ray(
    source: str,
    output: str,
    *,
    model: str | None,
    options: BulkOptions,
    device: str | None = None,
    precision: Precision | None = None,
    state: StateMode = "settled",
    cluster: Cluster | None = None,
    lines_in_shard: int = LINES_IN_SHARD,
    resume: bool = False,
    show_progress_bar: bool | None = None,
) -> int:
    """Embed every line of a file or directory into the directory `output`; says how many shards it has.

    `model` must be a name or path that every machine can read, and so must `source` and `output`. A running cluster is
    joined (RAY_ADDRESS, or `ray job submit`); without one, Ray is started on this machine for the time of the job.
    """
    ray = _import_ray()
    import_pyarrow()
    if state == "carry":
        raise ConfigError(
            "state 'carry' goes from line to line, but shards are embedded apart; use 'settled' or 'zero'"
        )
    settings: dict[str, Any] = {"name_or_path": model, "device": device, "precision": precision, "state": state}
    settings["offline"] = is_offline()  # a worker is another process and would not know
    embedder = load(**settings)  # fails here, once, rather than on every machine
    check_layers(options.layers, embedder.layer_count)
    job = {
        "model": embedder.model.sha256,
        "state": state,
        "precision": embedder.precision,
        "source": str(Path(source).resolve()),
        "files": {path: os.path.getsize(path) for path in expand_paths([source])},
        "lines_in_shard": lines_in_shard,
        "options": asdict(options),
    }
    del embedder
    refuse_output_in_source(source, output)
    folder = Path(output)
    _claim(folder, job, resume=resume)
    with locked_alone(folder / LOCK_FILE, refusal=other_at_work(folder)):
        write_file(folder / JOB_FILE, json.dumps(job, indent=2, sort_keys=True).encode("utf-8"))
        shards = plan(source, lines_in_shard=lines_in_shard)
        missing = [shard for shard in shards if not (folder / shard.name).is_file()]
        hidden = None if show_progress_bar is None else not show_progress_bar
        with tqdm(total=len(shards), initial=len(shards) - len(missing), unit="shard", disable=hidden) as bar:
            if missing:
                for _ in _run(ray, missing, folder, settings, options, cluster or Cluster(), source):
                    bar.update()
        lost = [shard.name for shard in shards if not (folder / shard.name).is_file()]
        if lost:
            raise ElmoError(f"{folder}: {len(lost)} shards are missing, the first is {lost[0]}; go on with --resume")
        for path in folder.iterdir():
            if TEMPORARY.fullmatch(path.name):  # of a worker or a run that was killed
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)
    return len(shards)


def plan(source: str, *, lines_in_shard: int) -> list[Shard]:
    """Cut every file into shards; reads the text once, without decoding it."""
    shards: list[Shard] = []
    for path in expand_paths([source]):
        if path.endswith(PACKED):
            shards.append(Shard(number=len(shards), file=path, first_line=0, start=0, stop=None))
            continue
        begun, at, line = (0, 0), 0, 0  # first line and byte of the shard at hand; the place after the last line
        with open(path, "rb") as file:
            for text in file:
                at, line = at + len(text), line + 1
                if line - begun[0] == lines_in_shard:
                    shards.append(Shard(number=len(shards), file=path, first_line=begun[0], start=begun[1], stop=at))
                    begun = (line, at)
        if at > begun[1]:
            shards.append(Shard(number=len(shards), file=path, first_line=begun[0], start=begun[1], stop=at))
    return shards


def lines_of_shard(shard: Shard) -> Iterator[str]:
    """The lines of a shard, as `read_lines` gives them."""
    if shard.stop is None:
        yield from (line for _, line in read_lines(shard.path or shard.file))
        return
    with open(shard.path or shard.file, "rb") as file:
        file.seek(shard.start)
        data = file.read(shard.stop - shard.start)
    if shard.start == 0:
        data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        lines = data.removesuffix(b"\n").decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        line = shard.first_line + 1 + data.count(b"\n", 0, error.start)
        raise InputError(f"{shard.file}: line {line} is not UTF-8; convert the file") from None
    yield from (line.removesuffix("\r") for line in lines)


class EmbedShard:
    """A worker: loads the model once, then makes one shard after the other."""

    def __init__(
        self, folder: str, settings: Mapping[str, Any], options: BulkOptions, threads: int, *, source: str
    ) -> None:
        self.folder = Path(folder)
        self.options = options
        self.threads = threads
        self.embedder: Embedder = load(**settings, num_threads=threads)
        self.shape = shape_of(self.embedder, options, source)
        self.memory = PartMemory()

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """Make a shard, unless it is there already: a second try may follow a worker that died after its last step."""
        shard = Shard(**row)
        path = self.folder / shard.name
        if not path.is_file():
            # Two workers may be at the same shard, when one of them was given up for dead.
            # The next part is computed while one is written, and the one behind it is tokenized.
            with atomic_path(path) as temporary, closing(ahead(self._parts(shard), depth=1)) as parts:
                write_whole("parquet", self.memory.after(parts, lambda part: part.vectors), temporary, self.shape)
        return {"number": shard.number}

    def _parts(self, shard: Shard) -> Iterator[EmbeddedPart]:
        lines = (Line(n, text, shard.file, n) for n, text in enumerate(lines_of_shard(shard), shard.first_line))
        path = shard.path or shard.file
        size = os.path.getsize(path) if shard.stop is None else shard.stop - shard.start
        workers = tokenizing_workers(self.embedder, size, cores=self.threads)
        with closing(ahead(parts_of(self.embedder, lines, self.options, workers=workers), depth=1)) as coming:
            for part_lines, found in coming:
                part, _ = embed_part(self.embedder, part_lines, found, self.options, memory=self.memory)
                yield part


def _run(
    ray: Any,
    shards: Sequence[Shard],
    folder: Path,
    settings: Mapping[str, Any],
    options: BulkOptions,
    cluster: Cluster,
    source: str,
) -> Iterator[int]:
    """The numbers of the shards as they are finished."""
    started = not ray.is_initialized()
    if started:
        _start(ray, folder)
    try:
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        fitting = int(ray.cluster_resources().get("CPU", 1)) // cluster.worker_cpus
        workers = max(1, min(cluster.workers or fitting, len(shards)))
        absolute = [asdict(replace(shard, path=str(Path(shard.file).resolve()))) for shard in shards]
        done = ray.data.from_items(absolute, override_num_blocks=len(absolute)).map(
            EmbedShard,
            fn_constructor_args=(str(folder.resolve()), dict(settings), options, cluster.worker_cpus),
            fn_constructor_kwargs={"source": str(Path(source).resolve())},
            compute=ray.data.ActorPoolStrategy(size=workers),
            num_cpus=cluster.worker_cpus,
            num_gpus=cluster.worker_gpus or None,
            max_restarts=TRIES,
            max_task_retries=TRIES,
        )
        for row in done.iter_rows():
            yield row["number"]
    except ray.exceptions.RayError as error:
        raise ElmoError(f"{folder}: a worker failed: {_cause(error)}; go on with --resume") from error
    finally:
        if started:
            ray.shutdown()


def _start(ray: Any, folder: Path) -> None:
    try:
        ray.init(log_to_driver=False, logging_level="error", include_dashboard=False)
    except Exception as error:  # Ray raises no class of its own where its processes take more than 30 seconds to start
        ray.shutdown()
        raise ElmoError(
            f"{folder}: Ray could not be started: {_cause(error)}; it may be too busy here: go on with --resume"
        ) from error


def _cause(error: Exception) -> str:
    """The line of the exception itself, which Ray's text has between a traceback and advice of its own."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b.*: ", line)]
    found = (causes or lines or [type(error).__name__])[-1]
    return re.sub(r"^(elmo\.errors\.|ray\.exceptions\.)?\w+: ", "", found)[:300] if causes else found[:300]


def _claim(folder: Path, job: Mapping[str, Any], *, resume: bool) -> None:
    """Make the output's folder; an existing one must be of the same job, and resuming must be asked for."""
    path = folder / JOB_FILE
    # A run that was killed before it could say what it is has left a lock and nothing of worth.
    held = (
        {entry.name for entry in folder.iterdir() if not TEMPORARY.fullmatch(entry.name)} if folder.exists() else set()
    )
    if held and not (resume and held == {LOCK_FILE}):
        if not path.is_file():
            raise ResumeError(f"{folder}: is in the way and was not made by `elmo embed`; choose another name")
        if not resume:
            raise ResumeError(f"{folder}: exists already; continue with --resume or choose another name")
        written = read_json(path, refusal=ResumeError)
        difference = first_difference(written, json.loads(json.dumps(job)))
        if difference is not None:
            raise ResumeError(f"{folder}: is of an interrupted run, but {difference}; ask for the same")
    with errors_naming(folder):
        folder.mkdir(parents=True, exist_ok=True)


def _import_ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise MissingExtraError("--engine ray needs Ray; install it with: pip install 'ray[data]'") from error
    return ray

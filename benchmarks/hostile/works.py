"""The readers of what the product leaves on disk and takes up again: corpora, runs, jobs, task models, caches."""

import contextlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

from benchmarks.hostile.models import character_model
from benchmarks.hostile.mutations import (
    Mutation,
    mutate_json_lines,
    mutate_json_text,
    mutate_npy,
    mutate_safetensors,
    mutate_text,
)
from benchmarks.hostile.target import Target
from benchmarks.hostile.texts import COLUMNS, TEXT
from elmo.analysis.choices import VectorStore
from elmo.analysis.index import WordIndex, answer_from_index, build_index, open_index
from elmo.analysis.index import build as index_build
from elmo.corpus.build import build_corpus
from elmo.corpus.layout import FILES
from elmo.corpus.store import CorpusStore
from elmo.disk.workfolder import folder_beside
from elmo.embed.bulk import parts, ray_engine
from elmo.embed.bulk.job import embed_file
from elmo.embed.bulk.journal import FINISHED
from elmo.embed.bulk.options import BulkOptions
from elmo.embed.embedder import Embedder
from elmo.embed.module import Elmo
from elmo.lm.perplexity import store_perplexity
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.pretraining import pretrain
from elmo.run.curves import draw_curves
from elmo.tasks.embedding.layercache import CacheConfig, LayerStore
from elmo.tasks.embedding.wordvectors import WordVectors
from elmo.tasks.recipes import Recipe, find_recipe
from elmo.tasks.training import loop
from elmo.tasks.training.checkpoint import TaskProgress, save_task_checkpoint
from elmo.tasks.training.directory import load_trained_task
from elmo.tasks.training.trainer import train_task
from elmo.text.vocabulary import Vocabulary
from elmo.weights.formats import write_model
from elmo.weights.loaded import LoadedModel
from elmo.weights.softmax import Softmax

SMALL = {
    "embedding.words.dim": 3,
    "embedding.characters": {"dim": 2, "filters": 3, "width": 2},
    "task.model.hidden": 3,
    "task.model.layers": 1,
    "train.epochs": 2,
    "train.batch_size": 1,
    "train.checkpoint_minutes": 0.0,
}
TOKENS = BulkOptions(tokenized=True)


def work_targets(directory: Path) -> list[Target]:
    """Each thing once, with one target for each of its files."""
    directory.mkdir(parents=True)
    (directory / "text.txt").write_bytes(TEXT * 9)
    (directory / "columns.txt").write_bytes(COLUMNS)
    return [
        *_corpora(directory),
        *_runs(directory),
        *_jobs(directory),
        *_modules(directory),
        *_tasks(directory),
        *_layers(directory),
        *_indexes(directory),
    ]


def contents(directory: Path) -> dict[str, bytes]:
    """All files of a directory by their path in it."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def targets_of(
    what: str, files: dict[str, bytes], changes: dict[str, Mutation], read: Callable[[Path], object]
) -> list[Target]:
    """A target for each file that is changed."""
    return [Target(f"{what}: {Path(name).name}", files, name, mutate, read) for name, mutate in changes.items()]


def _corpora(directory: Path) -> list[Target]:
    text = str(directory / "text.txt")
    build_corpus(text, directory / "corpus", tokenized=True, min_count=1, heldout=0.2, workers=1)
    model = language_model(CorpusStore.open(directory / "corpus").vocabulary)

    def use(path: Path) -> object:
        store = CorpusStore.open(path)
        store_perplexity(model, store, device="cpu")
        return store.counts, store.tokenizer, store.verify()

    changes: dict[str, Mutation] = dict.fromkeys(FILES.values(), mutate_npy)
    changes |= {"corpus.json": mutate_json_text, "vocab.txt": mutate_text}
    stored = targets_of("corpus", contents(directory / "corpus"), changes, use)

    # An interrupted build: its finished blocks and its plan.
    kept: dict[str, bytes] = {}

    def interrupt(_: object) -> None:
        found = contents(folder_beside(directory / "again"))
        if any(name.startswith("blocks/") for name in found):
            kept.update({f"again.building/{name}": content for name, content in found.items()})

    build_corpus(text, directory / "again", tokenized=True, min_count=1, workers=1, progress=interrupt)
    block = next(name for name in kept if "blocks/" in name)
    files = {name: kept[name] for name in ("again.building/plan.json", block)}

    def go_on(path: Path) -> object:
        return build_corpus(text, path / "again", tokenized=True, min_count=1, workers=1, resume=True).verify()

    changes = {"again.building/plan.json": mutate_json_text, block: mutate_safetensors}
    return [*stored, *targets_of("build", files, changes, go_on)]


def language_model(vocabulary: Vocabulary) -> LoadedModel:
    made = character_model()
    V, D = len(vocabulary), made.config.lstm.output_dim
    softmax = Softmax(torch.ones(V, D), torch.ones(V))
    return LoadedModel(bilm=made.bilm, tokenizer=made.tokenizer, vocabulary=vocabulary, softmax=softmax)


def _runs(directory: Path) -> list[Target]:
    config = TrainConfig.from_dict(
        {
            "model": character_model().config.to_dict(),
            "steps": 4,
            "window": 4,
            "batch_size": 2,
            "log_every": 1,
            "evaluate_every": 2,
            "checkpoint_every": 2,
            "loss": {"kind": "full"},
            "optimizer": {"kind": "adam"},
        }
    )

    def train(run: Path, *, resume: bool) -> object:
        found = pretrain(
            directory / "corpus",
            config,
            run,
            resume=resume,
            device="cpu",
            progress_bar=False,
            tensorboard=False,
        )
        return found.model

    train(directory / "run", resume=False)
    files = contents(directory / "run")
    newest = next(name for name in sorted(files, reverse=True) if name.endswith("training.json"))
    files = {name: content for name, content in files.items() if name.startswith((str(Path(newest).parent), "metrics"))}

    def go_on(path: Path) -> object:
        train(path, resume=True)
        return draw_curves(path)

    changes = {
        newest: mutate_json_text,
        newest.replace(".json", ".safetensors"): mutate_safetensors,
        newest.replace("training.json", "model.safetensors"): mutate_safetensors,
        newest.replace("training.json", "config.json"): mutate_json_text,
        "metrics.jsonl": mutate_json_lines,
    }
    return targets_of("run", files, changes, go_on)


def _jobs(directory: Path) -> list[Target]:
    text = directory / "text.txt"
    embedder = Embedder(character_model(), device="cpu", state="carry")

    def embed(path: Path, *, resume: bool) -> object:
        return embed_file(
            embedder, str(text), str(path / "out.jsonl"), options=TOKENS, resume=resume, show_progress_bar=False
        )

    folder = directory / "job"
    folder.mkdir()
    parts.LINES_IN_PART = 8  # in this process, so that one part is finished when the next one fails
    whole = embedder.embed_numbered
    answers = iter([whole, whole])
    embedder.embed_numbered = lambda *given, **options: next(answers)(*given, **options)  # type: ignore[method-assign]
    with contextlib.suppress(RuntimeError, StopIteration):
        embed(folder, resume=False)
    del embedder.embed_numbered  # type: ignore[method-assign]
    kept = contents(folder)
    part = "out.jsonl.parts/00000000.part"
    files = {name: kept[name] for name in ("out.jsonl.parts/job.json", part)}
    finished = {**json.loads(files["out.jsonl.parts/job.json"]), FINISHED: True}
    done = {"out.jsonl.parts/job.json": json.dumps(finished).encode(), "out.jsonl.parts/output": b"{}\n"}
    job = {"model": "0", "state": "settled", "options": {"layers": "mean"}}
    claimed = f"out/{ray_engine.JOB_FILE}"
    changes = {"out.jsonl.parts/job.json": mutate_json_text, part: mutate_safetensors}
    return [
        *targets_of("embed", files, changes, lambda path: embed(path, resume=True)),
        *targets_of(
            "embed, finished",
            done,
            {"out.jsonl.parts/job.json": mutate_json_text},
            lambda path: embed(path, resume=True),
        ),
        *targets_of(
            "embed with Ray",
            {claimed: json.dumps(job).encode()},
            {claimed: mutate_json_text},
            lambda path: ray_engine._claim(path / "out", job, resume=True),
        ),
    ]


def _modules(directory: Path) -> list[Target]:
    Elmo(character_model(), mixes=2).save_pretrained(directory / "module")
    changes = {"elmo.json": mutate_json_text, "elmo.safetensors": mutate_safetensors}

    def use(path: Path) -> object:
        return Elmo.from_pretrained(path).eval()([["a", "river"]])

    return targets_of("Elmo", contents(directory / "module"), changes, use)


def _recipe() -> Recipe:
    return find_recipe("ner").changed(SMALL)


def _tasks(directory: Path) -> list[Target]:
    model = character_model()
    write_model(model, directory / "bilm")
    recipe = _recipe()
    examples = recipe.make_task().read(str(directory / "columns.txt"))
    vectors = WordVectors(["Paul", "river", "May"], torch.ones(3, 3).numpy())

    def train(run: Path, *, resume: bool, time_limit: float | None = None) -> object:
        return train_task(
            "ner",
            recipe.changed({"embedding.words.train": False}),
            examples,
            examples,
            run,
            model=model,
            vectors=vectors,
            resume=resume,
            device="cpu",
            time_limit=time_limit,
            progress_bar=False,
        )

    def answer(path: Path) -> object:
        return load_trained_task(path, model_path=directory / "bilm", device="cpu").evaluate(examples)

    kept: dict[str, bytes] = {}

    def keep(run: Path, progress: TaskProgress, tensors: Mapping[str, torch.Tensor]) -> None:
        save_task_checkpoint(run, progress, tensors)
        if progress.epoch == 1:
            kept.update(contents(run))

    with patch.object(loop, "save_task_checkpoint", keep):
        train(directory / "again", resume=False)
    train(directory / "begun", resume=False, time_limit=0)
    begun = contents(directory / "begun")
    train(directory / "begun", resume=True)
    trained = contents(directory / "begun" / "model")
    changes = {
        "task.json": mutate_json_text,
        "model.safetensors": mutate_safetensors,
        "words.txt": mutate_text,
        "vectors.safetensors": mutate_safetensors,
    }
    halfway = {
        "checkpoint/progress.json": mutate_json_text,
        "checkpoint/tensors.safetensors": mutate_safetensors,
        "metrics.jsonl": mutate_text,
    }
    return [
        *targets_of("task", trained, changes, answer),
        *targets_of("task run", begun, halfway, lambda path: train(path, resume=True)),
        *targets_of("task run of an epoch", kept, halfway, lambda path: train(path, resume=True)),
    ]


def _layers(directory: Path) -> list[Target]:
    elmo = Elmo(character_model())
    sentences = [("a", "river"), ("it", "rose", ".")]

    def use(path: Path) -> object:
        found = LayerStore(CacheConfig(folder=path)).layers(elmo, sentences)
        assert found is not None
        return found.gather(torch.tensor([[0, 1]]))

    use(directory / "layers")
    files = {name: content for name, content in contents(directory / "layers").items() if name.endswith(".npy")}
    return targets_of("layers", files, dict.fromkeys(files, mutate_npy), use)


def _indexes(directory: Path) -> list[Target]:
    text = directory / "text.txt"
    embedder = Embedder(character_model(), device="cpu")

    def build(folder: Path, *, resume: bool, store: VectorStore = "int8") -> WordIndex:
        return build_index(embedder, [text], folder, layers="all", store=store, tokenized=True, resume=resume)

    def use(path: Path) -> object:
        index = open_index(path)
        for centred in (False, True):
            index.search(torch.ones(index.dim).numpy(), count=3, centred=centred)
        uses = [index.uses(word).neighbors() for word in index.words]
        vectors = [index.uses(word).vectors(layer) for word in list(index.words)[:3] for layer in index.layers]
        return answer_from_index(embedder, [("river", "a river .")], index), uses, vectors, index.verify()

    kept = contents(build(directory / "index", resume=False).folder)
    changes: dict[str, Mutation] = {name: mutate_npy for name in kept if name.endswith(".npy")}
    stored = targets_of("index", kept, {**changes, "index.json": mutate_json_text}, use)

    # An interrupted build: its finished part and its plan.
    begun: dict[str, bytes] = {}
    merge = index_build.merge_parts

    def interrupt(*given: Any, **options: Any) -> Any:
        begun.update(contents(folder_beside(directory / "halfway")))
        return merge(*given, **options)

    with patch.object(index_build, "merge_parts", interrupt):
        build(directory / "halfway", resume=False)
    block = next(name for name in begun if name.startswith("blocks/"))
    files = {f"halfway.building/{name}": begun[name] for name in ("plan.json", block)}
    changes = {"halfway.building/plan.json": mutate_json_text, f"halfway.building/{block}": mutate_safetensors}

    def go_on(path: Path) -> object:
        return build(path / "halfway", resume=True).verify()

    return [*stored, *targets_of("index build", files, changes, go_on)]

"""The parts of the battery, cut into units: each a few figures of one model that are measured at once and never again.

A unit is a value of strings and numbers, so that a process of its own can measure it (`measure`). What it gives is a
line of the results.
"""

import datetime
import json
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
from recipes.english.card_figures import HELDOUT, facts, sentences_of
from recipes.english.mix import HELDOUT_NEW

import elmo
from benchmarks.senses.measure import measure as measure_senses
from benchmarks.tasks.jobs import Job, train
from elmo.analysis.examples import SENSE_SETS
from elmo.disk.writing import write_file
from elmo.embed.embedder import Embedder
from elmo.embed.module import Elmo
from elmo.lm.perplexity import text_perplexity
from elmo.ops.device import choose_device
from elmo.tasks.probe.linear import ProbeConfig, probe_layers
from elmo.tasks.tagging.task import Tagging, TaggingConfig
from elmo.tasks.wsd.evaluate import TOGETHER, evaluate_senses
from elmo.weights.formats import read_model
from elmo.weights.loaded import LoadedModel
from elmo.weights.softmaxfile import add_softmax

TEXTS = {
    "held-out": HELDOUT,
    "held-out, new texts": HELDOUT_NEW,
    "lm1b": "lm1b_heldout_dev.tokens",
    "WikiText-103": "wikitext103_valid.txt",
    "Penn Treebank": "ptb.valid.txt",
}
SEMCOR, INDEX_SENSE = "wsd/SemCor/semcor.data.xml", "wsd/WordNet-3.0/index.sense"
SENSE_TESTS = [
    f"wsd/Evaluation_Datasets/{n}/{n}.data.xml" for n in ("senseval2", "senseval3", "semeval2013", "semeval2015")
]
EWT = [f"pos_ud_ewt/en_ewt-ud-{part}.conllu" for part in ("train", "dev", "test")]
CONLL = [f"ner_conll2003/eng.{part}" for part in ("train", "testa", "testb")]
VECTORS = "vectors.npz"
FRACTIONS = {"ner10": 0.1, "ner100": 1.0}
# The longest first: then parts that run beside each other end at about the same time.
PARTS = ("ner100", "ner10", "wsd", "pos", "perplexity", "senses")
QUICK_SENTENCES = 100  # of each file, with --quick

Figures = dict[str, float]


class Model(NamedTuple):
    """A model to be judged: where it is, and what its vectors and its softmax (None: there is none) are known by."""

    name: str
    softmax_file: str | None
    sha256: str
    softmax: str | None


class Unit(NamedTuple):
    """What is measured at once. `name`: the text or the set of a part that has several."""

    part: str
    name: str
    seed: int
    model: Model
    data: str
    device: str | None
    cache: str
    quick: bool
    changes: tuple[str, ...]  # of the recipe for names

    @property
    def key(self) -> str:
        """What tells it from others: a result with the same key is its own, on whatever machine it was made."""
        softmax = self.model.softmax if self.part == "perplexity" else None
        vectors = self.part in FRACTIONS and self.file(VECTORS).is_file()
        changes = self.changes if self.part in FRACTIONS else ()
        return json.dumps([self.model.sha256, self.part, self.name, self.seed, softmax, vectors, self.quick, *changes])

    def file(self, name: str) -> Path:
        """A file of the data."""
        return Path(self.data) / name

    @property
    def lacking(self) -> str | None:
        """Why it cannot be measured, if it cannot."""
        if self.part == "perplexity" and self.model.softmax is None:
            return f"{self.model.name} has no softmax; --softmax names a file with one"
        missing = [name for name in _files(self) if not self.file(name).is_file()]
        return f"{self.file(missing[0])} is missing" if missing else None


def units_of(
    parts: list[str], model: Model, *, seeds: dict[str, int], first_seed: int = 1, **common: Any
) -> Iterator[Unit]:
    """All units of some parts; `seeds` says how many of those that are trained."""
    for part in (part for part in PARTS if part in parts):
        names = {"perplexity": list(TEXTS), "senses": list(SENSE_SETS)}.get(part, [""])
        for name in names:
            for seed in range(first_seed, first_seed + seeds.get(part, 1)):
                yield Unit(part, name, seed, model, **common)


def _files(unit: Unit) -> list[str]:
    """The data that a unit reads."""
    match unit.part:
        case "perplexity":
            return [TEXTS[unit.name]]
        case "wsd":
            return [*([] if unit.quick else [SEMCOR]), INDEX_SENSE, *SENSE_TESTS]
        case "pos":
            return EWT
        case "senses":
            return []
    return CONLL


def find_model(name: str, softmax_file: str | None) -> Model:
    """Read a model once to know it."""
    model = _read(name, softmax_file)
    softmax = None
    if model.softmax is not None:
        assert model.vocabulary is not None, f"{name} has a softmax but no vocabulary"
        softmax = _hash_softmax(model)
    return Model(name, softmax_file, model.sha256, softmax)


def measure(unit: Unit) -> dict[str, Any]:
    """The line of a unit."""
    began, device = time.perf_counter(), choose_device(unit.device)
    figures, details = MEASURES[unit.part](unit)
    return {
        "key": unit.key,
        "model": unit.model.name,
        "sha256": unit.model.sha256,
        "part": unit.part,
        "name": unit.name,
        "seed": unit.seed,
        "quick": unit.quick,
        "figures": figures,
        "details": details,
        "seconds": round(time.perf_counter() - began, 1),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type.upper(),
        "date": datetime.date.today().isoformat(),
        "elmo": elmo.__version__,
        "torch": torch.__version__,
    }


def _perplexity(unit: Unit) -> tuple[Figures, Any]:
    model = _read(unit.model.name, unit.model.softmax_file)
    sentences = sentences_of(unit.file(TEXTS[unit.name]), model)
    if unit.quick:
        sentences = sentences[:QUICK_SENTENCES]
    found = text_perplexity(model, sentences, state="carry", device=unit.device)
    return {f"perplexity, {unit.name}": found.average}, facts(found)


def _senses(unit: Unit) -> tuple[Figures, Any]:
    embedder = Embedder(_read(unit.model.name, None), device=unit.device)
    found = measure_senses(embedder, None, name=unit.name)
    layers = {kind: 100 * each["share"] for kind, each in found.items() if kind != "tokens"}
    return {f"senses ({unit.name}), {kind}, %": share for kind, share in layers.items()}, found


def _wsd(unit: Unit) -> tuple[Figures, Any]:
    tests = [unit.file(name) for name in SENSE_TESTS]
    learned = unit.file(SEMCOR)
    if unit.quick:
        learned, *tests = tests
    scores = evaluate_senses(_module(unit), learned, tests, unit.file(INDEX_SENSE))
    together = next(s for s in scores if s.name == TOGETHER)
    figures = {f"word senses, LSTM {n}, F1": f1 for n, f1 in enumerate(together.layers) if n > 0}
    return figures | {"word senses, mean of the layers, F1": together.mean}, [vars(s) for s in scores]


def _pos(unit: Unit) -> tuple[Figures, Any]:
    reader = Tagging(TaggingConfig(chunks=False))
    parts = [reader.read(unit.file(name)) for name in EWT]
    if unit.quick:
        parts = [part[:QUICK_SENTENCES] for part in parts]
    config = ProbeConfig(seed=unit.seed, epochs=2 if unit.quick else ProbeConfig.epochs)
    found = probe_layers(_module(unit), *parts, config=config)
    assert found.test is not None
    names = ["tokens", *(f"LSTM {n}" for n in range(1, len(found.test)))]
    return {f"POS probe, {name}, %": score for name, score in zip(names, found.test, strict=True)}, vars(found)


def _ner(unit: Unit) -> tuple[Figures, Any]:
    fraction = FRACTIONS[unit.part]
    files = [unit.file(name) for name in CONLL]
    vectors = str(unit.file(VECTORS)) if unit.file(VECTORS).is_file() else None
    changes = unit.changes
    if unit.quick:
        files, changes = [_cut(path, Path(unit.cache) / "quick") for path in files], (*changes, "train.epochs=1")
    train_file, dev, test = map(str, files)
    job = Job(
        "ner", "input", unit.seed, fraction, train_file, dev, test, unit.model.name, vectors, unit.cache, unit.device,
        changes,
    )  # fmt: skip
    found = train(job)
    return {f"NER, {fraction:.0%} of the data, F1": found["test"][found["metric"]]}, found


MEASURES: dict[str, Callable[[Unit], tuple[Figures, Any]]] = {
    "ner100": _ner, "ner10": _ner, "wsd": _wsd, "pos": _pos, "perplexity": _perplexity, "senses": _senses,
}  # fmt: skip


@cache
def _read(name: str, softmax_file: str | None) -> LoadedModel:
    model = read_model(name)
    return model if softmax_file is None else add_softmax(model, Path(softmax_file))


def _cut(path: Path, folder: Path) -> Path:
    """The first sentences of a file whose sentences end in blank lines."""
    folder.mkdir(parents=True, exist_ok=True)
    sentences = path.read_text("utf-8").split("\n\n")[:QUICK_SENTENCES]
    write_file(folder / path.name, ("\n\n".join(sentences) + "\n\n").encode("utf-8"))
    return folder / path.name


def _module(unit: Unit) -> Elmo:
    return Elmo.from_pretrained(unit.model.name).to(choose_device(unit.device)).eval()


def _hash_softmax(model: LoadedModel) -> str:
    from elmo.weights.tensors import content_sha256

    assert model.softmax is not None
    return content_sha256(model.softmax._asdict())

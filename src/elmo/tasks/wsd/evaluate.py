"""The word sense evaluation as a whole: learn sense averages, answer test sets, score each layer."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from elmo.disk.writing import write_file
from elmo.embed.module import Elmo
from elmo.tasks.wsd.corpus import read_sense_corpus
from elmo.tasks.wsd.nearest import average_senses, predict_first, predict_senses, score_senses
from elmo.tasks.wsd.wordnet import read_first_senses

TOGETHER = "together"


@dataclass(frozen=True)
class SenseScores:
    """F1 in per cent of one test set: of the first sense, of each layer, and of the mean of the layers."""

    name: str
    instances: int
    first: float
    layers: list[float]
    mean: float


def evaluate_senses(
    elmo: Elmo,
    train: str | Path,
    tests: Sequence[str | Path],
    index_sense: str | Path,
    *,
    output: Path | None = None,
) -> list[SenseScores]:
    """Scores of each test set, and of all of them together where there are several.

    `output` is a folder for the answers, in the format that the framework's Scorer reads.
    """
    first = read_first_senses(index_sense)
    corpora = [read_sense_corpus(path) for path in tests]
    senses = average_senses(elmo, read_sense_corpus(train))
    gold: dict[str, tuple[str, ...]] = {}
    pooled: dict[str, dict[str, str]] = {}
    found = []
    for number, corpus in enumerate(corpora):
        *layers, mean = predict_senses(elmo, corpus, senses, first)
        named = {"first": predict_first(corpus.instances, first)}
        named |= {f"layer{n}": answers for n, answers in enumerate(layers)} | {"mean": mean}
        wanted = {i.id: corpus.keys[i.id] for i in corpus.instances}
        found.append(_scores(corpus.name, wanted, named))
        gold |= {f"{number}.{name}": keys for name, keys in wanted.items()}  # test sets use the same ids
        for kind, answers in named.items():
            pooled.setdefault(kind, {}).update({f"{number}.{name}": key for name, key in answers.items()})
            if output is not None:
                output.mkdir(parents=True, exist_ok=True)
                lines = "".join(f"{name} {key}\n" for name, key in answers.items())
                write_file(output / f"{corpus.name}.{kind}.key.txt", lines.encode("utf-8"))
    return [*found, _scores(TOGETHER, gold, pooled)] if len(found) > 1 else found


def _scores(name: str, gold: dict[str, tuple[str, ...]], answers: dict[str, dict[str, str]]) -> SenseScores:
    layers = [score_senses(gold, found) for kind, found in answers.items() if kind.startswith("layer")]
    return SenseScores(
        name, len(gold), score_senses(gold, answers["first"]), layers, score_senses(gold, answers["mean"])
    )

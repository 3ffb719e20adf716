"""The texts that the search tunes on: the sentences of task files, labels unread, and parts of a domain's text."""

import dataclasses
from pathlib import Path
from typing import Any

from elmo.corpus.build import build_corpus
from elmo.corpus.store import CorpusStore
from elmo.disk.locking import locked
from elmo.disk.writing import write_file
from elmo.tasks.examples import Example
from elmo.tasks.recipes import Recipe, find_recipe

HELDOUT = 0.05  # of the sentences, as `elmo task train --tune-bilm` has it


@dataclasses.dataclass(frozen=True, kw_only=True)
class TaskText:
    """A task's training file.

    `probed`: whether a linear classifier is trained on it and scored on dev. `searched`: whether all recipes are tried
    on it, not the wide ones alone.
    """

    task: str
    train: str
    dev: str
    probed: bool = True
    searched: bool = False

    def recipe(self) -> Recipe:
        return find_recipe(self.task)

    def examples(self, data: Path, part: str, most: int | None) -> list[Example]:
        """Of `train` or `dev`, at most so many."""
        return self.recipe().make_task().read(str(data / getattr(self, part)))[:most]


TEXTS: dict[str, TaskText] = {
    "conll": TaskText(task="ner", train="ner_conll2003/eng.train", dev="ner_conll2003/eng.testa", searched=True),
    "snli": TaskText(
        task="entailment", train="snli/snli_1.0_train_part.jsonl", dev="snli/snli_1.0_dev.jsonl", searched=True
    ),
    "sst": TaskText(task="classification", train="sst/trees/train.txt", dev="sst/trees/dev.txt", searched=True),
    "ewt": TaskText(task="pos", train="pos_ud_ewt/en_ewt-ud-train.conllu", dev="pos_ud_ewt/en_ewt-ud-dev.conllu"),
    "squad": TaskText(task="questions", train="qa_squad/train-part.json", dev="qa_squad/tune-part.json", probed=False),
    "ontogum": TaskText(
        task="coreference",
        train="coref_ontogum/train.v4_gold_conll",
        dev="coref_ontogum/dev.v4_gold_conll",
        probed=False,
    ),
}


def sentences_of(examples: list[Example]) -> list[str]:
    """Each distinct sentence as a line of tokens."""
    return list(dict.fromkeys(" ".join(s) for e in examples for text in e.texts for s in text.sentences))


def build_store(name: str, data: Path, folder: Path, *, words: int | None, most: int | None) -> CorpusStore:
    """The corpus store of a task's training sentences, or of the text file DATA/`name`; `words`: of its beginning."""
    place = folder / (name.replace("/", "-") + ("" if words is None else f"-{words}"))
    place.parent.mkdir(parents=True, exist_ok=True)
    with locked(place.with_suffix(".lock"), busy=lambda: None):
        if (place / "corpus.json").is_file():
            return CorpusStore.open(place)
        options: dict[str, Any] = {"documents": "lines", "tokenized": name in TEXTS}
        if name in TEXTS:
            lines = sentences_of(TEXTS[name].examples(data, "train", most))
        else:
            lines = (data / name).read_text("utf-8").splitlines()
        text = place.with_suffix(".txt")
        write_file(text, "".join(f"{line}\n" for line in beginning(lines, words)).encode("utf-8", "replace"))
        return build_corpus(text, place, heldout=HELDOUT, resume=True, **options)


def beginning(lines: list[str], words: int | None) -> list[str]:
    """The first lines that have so many words together."""
    if words is None:
        return lines
    found, count = 0, 0
    while found < len(lines) and count < words:
        count += len(lines[found].split())
        found += 1
    return lines[:found]

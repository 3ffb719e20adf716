"""Sense-tagged text in the format of the unified evaluation framework (Raganato et al. 2017): XML and gold keys."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from elmo.disk.guarded.xmlfiles import read_elements
from elmo.errors import InputError
from elmo.tasks.examples import Sentence
from elmo.text.lines import read_lines

DATA_SUFFIX, KEY_SUFFIX = ".data.xml", ".gold.key.txt"


class Instance(NamedTuple):
    """A word to be disambiguated: tokens start .. end - 1 of a sentence."""

    id: str
    lemma: str
    pos: str
    sentence: int
    start: int
    end: int


@dataclass(frozen=True)
class SenseCorpus:
    """Sentences, the words in them that have a sense, and their keys (any of which is right) by the word's id."""

    name: str
    sentences: list[Sentence]
    instances: list[Instance]
    keys: dict[str, tuple[str, ...]]


def read_sense_corpus(path: str | Path, *, keys: str | Path | None = None) -> SenseCorpus:
    """Read `NAME.data.xml` and its gold keys, by default `NAME.gold.key.txt` beside it."""
    data = Path(path)
    if keys is None:
        if not data.name.endswith(DATA_SUFFIX):
            raise InputError(f"{data}: its name does not end in {DATA_SUFFIX}; name it so, NAME{KEY_SUFFIX} beside it")
        keys = data.with_name(data.name.removesuffix(DATA_SUFFIX) + KEY_SUFFIX)
    sentences: list[Sentence] = []
    instances: list[Instance] = []
    for words, found in _read_xml(data, first=0):
        instances += [instance._replace(sentence=len(sentences)) for instance in found]
        sentences.append(words)
    if not instances:
        raise InputError(f"{data}: has no instances; words with senses are <instance id=... lemma=... pos=...>")
    gold = read_keys(keys)
    missing = next((i.id for i in instances if i.id not in gold), None)
    if missing is not None:
        raise InputError(f"{keys}: has no key for {missing!r} of {data}")
    return SenseCorpus(data.name.removesuffix(DATA_SUFFIX), sentences, instances, gold)


def read_keys(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Lines of `id key [key ...]`."""
    found: dict[str, tuple[str, ...]] = {}
    for number, line in read_lines(path):
        if not line.strip():
            continue
        name, *keys = line.split()
        if not keys or not all("%" in key for key in keys):
            raise InputError(f"{path}: line {number} is not an id and sense keys: {line[:60]!r}")
        found[name] = tuple(keys)
    return found


def _read_xml(path: Path, *, first: int) -> Iterator[tuple[Sentence, list[Instance]]]:
    for element in read_elements(path, "sentence", refusal=InputError):
        yield _read_sentence(element, path, first)


def _read_sentence(element: ElementTree.Element, path: Path, sentence: int) -> tuple[Sentence, list[Instance]]:
    words: list[str] = []
    instances: list[Instance] = []
    for child in element:
        pieces = (child.text or "").split()  # a multi-word unit is several tokens
        if child.tag == "instance" and pieces:
            values = {name: child.get(name) for name in ("id", "lemma", "pos")}
            if None in values.values():
                raise InputError(f"{path}: sentence {element.get('id')!r} has an instance without id, lemma or pos")
            instances.append(
                Instance(
                    str(values["id"]),
                    str(values["lemma"]).lower(),
                    str(values["pos"]),
                    sentence,
                    len(words),
                    len(words) + len(pieces),
                )
            )
        words += pieces
    return tuple(words), instances

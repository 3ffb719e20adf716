"""What is wrong in a vocabulary file, and its repair. Reads files that `Vocabulary.read` refuses or takes on trust."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from elmo.errors import InputError, VocabularyError
from elmo.text.vocabulary import ORDINALS, SKIPPED_LINE, SPECIALS, Vocabulary

Problem = Literal["mark", "encoding", "skipped", "blank", "count", "space", "duplicate", "special", "order"]
Source = str | os.PathLike[str] | Iterable[str]

# What other programs call the specials, in lower case. [AllenNLP, ELMoForManyLangs]
_OTHER_NAMES = {"<S>": {"<s>", "<bos>"}, "</S>": {"</s>", "<eos>"}, "<UNK>": {"<unk>", "<oov>", "@@unknown@@"}}
_COUNT = re.compile(r"[0-9]+")

# A file sorted by these very counts has 1, an alphabetical one about 0. A file made from another text lies between.
LEAST_RANK_CORRELATION = 0.5
_FEWEST_WORDS_TO_RANK = 10


@dataclass(frozen=True, slots=True)
class VocabularyFinding:
    """One thing wrong in a vocabulary file, and what `fix` does about it. Line None is the whole file."""

    problem: Problem
    line: int | None
    message: str
    cure: str

    def __str__(self) -> str:
        return self.message if self.line is None else f"line {self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class Repair:
    """A vocabulary put right, and the findings that were cured."""

    vocabulary: Vocabulary
    cured: list[VocabularyFinding]


class _Entry(NamedTuple):
    line: int
    word: str
    id: int


def check(source: Source, counts: Mapping[str, int] | None = None) -> list[VocabularyFinding]:
    """What is wrong in a vocabulary file or its lines; with the `counts` of a text, also whether they are in order."""
    return _examine(source, counts)[0]


def fix(source: Source, counts: Mapping[str, int] | None = None) -> Repair:
    """A vocabulary of what is good in the file. Ids move: this is for files that no model was trained with."""
    findings, words = _examine(source, counts)
    if not words:
        name = f"{os.fspath(source)}: " if isinstance(source, str | os.PathLike) else ""
        raise VocabularyError(f"{name}the vocabulary has no words; make one with `elmo vocab build`")
    return Repair(Vocabulary((*SPECIALS, *words)), findings)


def rank_correlation(words: Sequence[str], counts: Mapping[str, int]) -> float | None:
    """Spearman's correlation of the place of the words with their rank by `counts`; None for too few known words.

    Words without a count say nothing; of equally frequent words any order is right.
    """
    known = np.array([counts[word] for word in words if counts.get(word, 0) > 0])
    N = len(known)
    if N < _FEWEST_WORDS_TO_RANK:
        return None
    place = np.arange(N)
    rank = np.empty(N, dtype=np.int64)
    rank[np.argsort(-known, kind="stable")] = place  # [N]
    return float(np.corrcoef(place, rank)[0, 1])


def _examine(source: Source, counts: Mapping[str, int] | None) -> tuple[list[VocabularyFinding], list[str]]:
    """The findings in order of their lines, and the words that are left, without the specials."""
    findings: list[VocabularyFinding] = []
    entries = list(_entries(source, findings))
    words = _without_specials(_without_duplicates(entries, findings), findings)
    findings.sort(key=lambda finding: finding.line or 0)
    if counts is not None:
        correlation = rank_correlation(words, counts)
        if correlation is not None and correlation < LEAST_RANK_CORRELATION:
            message = f"not sorted by descending frequency: rank correlation with the counts is {correlation:.2f}"
            findings.append(VocabularyFinding("order", None, message, "sorted"))
            words = sorted(words, key=lambda word: -counts.get(word, 0))
    return findings, words


def _entries(source: Source, findings: list[VocabularyFinding]) -> Iterator[_Entry]:
    """The entries that can be words; findings for the others."""
    next_id = 0
    for line, raw in enumerate(_lines(source), start=1):
        if line == 1 and raw.startswith(b"\xef\xbb\xbf"):
            findings.append(VocabularyFinding("mark", line, "begins with a byte order mark", "removed the mark"))
            raw = raw[3:]
        try:
            word = raw.decode("utf-8").strip()
        except UnicodeDecodeError as error:
            message = (
                f"not UTF-8: byte {raw[error.start]:#04x} in {raw.decode('utf-8', 'backslashreplace').strip()!r:.80}"
            )
            findings.append(VocabularyFinding("encoding", line, message, "left out"))
            next_id += 1
            continue
        if word == SKIPPED_LINE:
            findings.append(VocabularyFinding("skipped", line, f"{word!r:.80} is no word and has no id", "left out"))
            continue
        parts = word.split()
        if len(parts) == 1:
            yield _Entry(line, word, next_id)
        elif not parts:
            findings.append(VocabularyFinding("blank", line, "blank, which takes an id for the empty word", "left out"))
        elif len(parts) == 2 and _COUNT.fullmatch(parts[1]):
            message = f"{word!r:.80} has a count after the word; a line holds the word alone"
            findings.append(VocabularyFinding("count", line, message, "removed the count"))
            yield _Entry(line, parts[0], next_id)
        else:
            message = f"{word!r:.80} has white space inside, so that no token can equal it"
            findings.append(VocabularyFinding("space", line, message, "left out"))
        next_id += 1


def _lines(source: Source) -> list[bytes]:
    if not isinstance(source, str | os.PathLike):
        return [line.encode("utf-8", "surrogatepass") for line in source]
    try:
        with open(source, "rb") as file:
            data = file.read()
    except OSError as error:
        raise InputError(f"{os.fspath(source)}: cannot be read: {error.strerror or error}") from error
    return data.removesuffix(b"\n").split(b"\n") if data else []


def _without_duplicates(entries: list[_Entry], findings: list[VocabularyFinding]) -> list[_Entry]:
    first: dict[str, _Entry] = {}
    for entry in entries:
        earlier = first.setdefault(entry.word, entry)
        if earlier is not entry:
            message = f"{entry.word!r:.80} is also on line {earlier.line}; the id of the last one counts"
            findings.append(VocabularyFinding("duplicate", entry.line, message, "left out"))
    return list(first.values())


def _without_specials(entries: list[_Entry], findings: list[VocabularyFinding]) -> list[str]:
    by_word = {entry.word: entry for entry in entries}
    found = set()
    for i, special in enumerate(SPECIALS):
        entry = by_word.get(special)
        if entry is None:
            entry = next((e for e in entries if e.word.lower() in _OTHER_NAMES[special]), None)
        if entry is None:
            message = f"{special!r} is missing; it must be the {ORDINALS[i]} entry"
            findings.append(VocabularyFinding("special", None, message, "added"))
            continue
        found.add(entry.word)
        if entry.word != special:
            message = (
                f"{entry.word!r:.80} stands for {special!r}, which must be the {ORDINALS[i]} entry, in these letters"
            )
            findings.append(VocabularyFinding("special", entry.line, message, "renamed"))
        elif entry.id != i:
            findings.append(
                VocabularyFinding("special", entry.line, f"{special!r} must be the {ORDINALS[i]} entry", "moved")
            )
    return [entry.word for entry in entries if entry.word not in found]

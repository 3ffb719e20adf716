"""The corpus: of each text its share, without a part of the new ones that is held out.

    python -m recipes.english.mix clean --shares recipes/english/mix.toml --into mix

`clean` is the folder of the cleaned texts. A share of 0.5 takes every other document, chosen by its number and the
seed; a share of 2 takes each twice, the second time behind all others. Documents of the texts under `heldout` go into
`english_heldout_new.txt` instead, `words` of each or a little more. `mix.json` has what was taken of each text, with
its licence, its origin and the evidence; `mix.md` is the same as a table.
"""

import argparse
import hashlib
import json
import math
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elmo.disk.writing import write_file
from recipes.english.documents import read_documents, targets_in, words_in, write_documents
from recipes.english.sources import source_of

HELDOUT_NEW = "english_heldout_new.txt"


@dataclass(frozen=True)
class Shares:
    """What a file of shares holds."""

    seed: int
    share: dict[str, float]  # by the name of the text
    heldout_words: int
    heldout: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> "Shares":
        """The shares of a TOML file; what it should not have is named."""
        values = tomllib.loads(path.read_text("utf-8"))
        if values.keys() != {"seed", "share", "heldout"} or values["heldout"].keys() != {"words", "texts"}:
            raise SystemExit(f"{path}: must have seed, [share], and [heldout] with words and texts, and nothing else")
        for name, share in values["share"].items():
            if not isinstance(share, int | float) or not 0 < share <= 10:
                raise SystemExit(f"{path}: the share of {name} is {share!r}, but it must be above 0 and at most 10")
        for name in values["heldout"]["texts"]:
            if name not in values["share"]:
                raise SystemExit(f"{path}: {name} is held out of, but has no share")
        return cls(values["seed"], values["share"], values["heldout"]["words"], tuple(values["heldout"]["texts"]))


@dataclass
class Taken:
    """What was taken of a text."""

    documents: int = 0
    lines: int = 0
    words: int = 0
    heldout_words: int = 0
    digest: Any = field(default_factory=hashlib.sha256)

    def add(self, lines: list[str]) -> None:
        """Count a document."""
        self.documents += 1
        self.lines += len(lines)
        self.words += words_in(lines)
        self.digest.update(("\n".join(lines) + "\n\n").encode())


def chance(*of: object) -> float:
    """A number from 0 to 1 that looks random and depends on nothing but what it is of."""
    return int.from_bytes(hashlib.blake2b(repr(of).encode(), digest_size=7).digest(), "big") / (1 << 56)


def held_out(path: Path, name: str, shares: Shares) -> set[int]:
    """The numbers of the documents that are held out: in an order that looks random, until they have the words."""
    if name not in shares.heldout:
        return set()
    ranked = sorted(
        (chance(shares.seed, name, number, "heldout"), number, words_in(lines))
        for number, lines in enumerate(read_documents(path))
    )
    chosen, words = set(), 0
    for _, number, count in ranked:
        if words >= shares.heldout_words:
            break
        chosen.add(number)
        words += count
    return chosen


def take(path: Path, name: str, shares: Shares, heldout: list[list[str]], taken: Taken) -> Iterator[list[str]]:
    """The documents of a text that are trained on; what is held out is added to `heldout`."""
    apart = held_out(path, name, shares)
    for copy in range(math.ceil(shares.share[name])):
        for number, lines in enumerate(read_documents(path)):
            if number in apart:
                if copy == 0:
                    heldout.append(lines)
                    taken.heldout_words += words_in(lines)
            elif chance(shares.seed, name, number, "share") < shares.share[name] - copy:
                taken.add(lines)
                yield lines


def facts_of(name: str, share: float, taken: Taken) -> dict[str, Any]:
    """An entry of `mix.json`."""
    source = source_of(name)
    return {
        "text": name,
        "what": source.what,
        "licence": source.licence,
        "evidence": source.evidence,
        "origin": source.origin,
        "share": share,
        "documents": taken.documents,
        "lines": taken.lines,
        "words": taken.words,
        "heldout_words": taken.heldout_words,
        "sha256": taken.digest.hexdigest(),
    }


def table(facts: list[dict[str, Any]]) -> str:
    """The facts in Markdown, with their sum."""
    rows = ["| text | share | documents | lines | words | held out | SHA-256 begins | licence |", "|---" * 8 + "|"]
    for one in facts:
        counts = " | ".join(f"{one[key]:,}" for key in ("documents", "lines", "words", "heldout_words"))
        rows.append(f"| {one['text']} | {one['share']:g} | {counts} | {one['sha256'][:16]} | {one['licence']} |")
    sums = (f"{sum(one[key] for one in facts):,}" for key in ("documents", "lines", "words", "heldout_words"))
    rows.append(f"| all | | {' | '.join(sums)} | | |")
    return "\n".join(rows) + "\n"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clean", type=Path)
    parser.add_argument("--shares", type=Path, required=True)
    parser.add_argument("--into", type=Path, required=True)
    given = parser.parse_args(arguments)
    shares = Shares.read(given.shares)
    texts = [given.clean / f"{name}.txt" for name in shares.share]
    missing = [path for path in texts if not path.is_file()]
    if missing:
        raise SystemExit(f"{missing[0]}: is not there, but {given.shares} has a share for it")
    targets = targets_in(given.into, texts)
    heldout: list[list[str]] = []
    facts = []
    for path, target in zip(texts, targets, strict=True):
        taken = Taken()
        write_documents(target, take(path, path.stem, shares, heldout, taken))
        facts.append(facts_of(path.stem, shares.share[path.stem], taken))
        print(f"{path.name}: {taken.words:,} words, {taken.heldout_words:,} held out", flush=True)
    write_documents(given.into / HELDOUT_NEW, heldout)
    write_file(given.into / "mix.json", (json.dumps(facts, indent=1) + "\n").encode())
    write_file(given.into / "mix.md", table(facts).encode())


if __name__ == "__main__":
    main()

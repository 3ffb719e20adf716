"""The words of test sets as plain text, for `recipes.english.decontaminate`.

    python -m recipes.english.testsets conll=data/ner/eng.testa squad=data/dev-v1.1.json ... --into tests

Each file is named with its form:

- text: as it is
- conll: the first column of lines with columns (CoNLL-2003, SRL of CoNLL-2005); an empty line ends a sentence
- conllu: the second column
- coref: the fourth column of CoNLL-2012
- trees: the leaves of bracketed trees, one a line (SST)
- squad: contexts and questions of SQuAD's JSON
- snli: both sentences of SNLI's lines
- wsd: the words of the XML of word sense disambiguation
"""

import argparse
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

from elmo.disk.writing import write_file

_RANGE = re.compile(r"\d+[-.]\d+")  # 3-4 and 5.1 of CoNLL-U
_LEAF = re.compile(r" ([^\s()]+)\)")


def column(text: str, number: int) -> Iterator[str]:
    """A column's words, a sentence a line; where an identifier is before them, no comments and no ranges of lines."""
    words: list[str] = []
    for line in [*text.splitlines(), ""]:
        columns = line.split("\t") if "\t" in line else line.split()
        if not columns:
            yield " ".join(words)
            words = []
        elif len(columns) > number and not (number and (line.startswith("#") or _RANGE.fullmatch(columns[0]))):
            words.append(columns[number])


def _squad(text: str) -> Iterator[str]:
    for article in json.loads(text)["data"]:
        for paragraph in article["paragraphs"]:
            yield paragraph["context"]
            yield from (question["question"] for question in paragraph["qas"])


def _snli(text: str) -> Iterator[str]:
    for pair in map(json.loads, text.splitlines()):
        yield from (pair["sentence1"], pair["sentence2"])


def _wsd(text: str) -> Iterator[str]:
    for sentence in ElementTree.fromstring(text).iter("sentence"):
        yield " ".join(word.text or "" for word in sentence)


FORMS: dict[str, Callable[[str], Iterator[str]]] = {
    "text": lambda text: iter(text.splitlines()),
    "conll": lambda text: column(text, 0),
    "conllu": lambda text: column(text, 1),
    "coref": lambda text: column(text, 3),
    "trees": lambda text: (" ".join(_LEAF.findall(line)) for line in text.splitlines()),
    "squad": _squad,
    "snli": _snli,
    "wsd": _wsd,
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FORM=FILE")
    parser.add_argument("--into", type=Path, required=True)
    given = parser.parse_args(arguments)
    given.into.mkdir(parents=True, exist_ok=True)
    for entry in given.files:
        form, _, name = entry.partition("=")
        if form not in FORMS or not name:
            parser.error(f"{entry}: is not FORM=FILE; the forms are {', '.join(FORMS)}")
        path = Path(name)
        lines = [line for line in FORMS[form](path.read_text("utf-8")) if line.strip()]
        if not lines:
            raise SystemExit(f"{path}: has no words as {form}")
        target = given.into / f"{path.parent.name}-{path.name}.txt"  # many are called test or dev
        write_file(target, ("\n".join(lines) + "\n").encode("utf-8"))
        print(f"{target}: {sum(len(line.split()) for line in lines):,} words")


if __name__ == "__main__":
    main()

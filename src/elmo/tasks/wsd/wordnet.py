"""The first sense of each word by WordNet's `index.sense`: the back-off, and the baseline that is hard to beat."""

from pathlib import Path

from elmo.errors import InputError
from elmo.text.lines import read_lines

# The first digit of a sense key's type. 5 is an adjective too, near another one (a satellite).
POS_OF_TYPE = {"1": "NOUN", "2": "VERB", "3": "ADJ", "4": "ADV", "5": "ADJ"}


def read_first_senses(path: str | Path) -> dict[tuple[str, str], str]:
    """(lemma, part of speech) -> the key of sense number 1."""
    found: dict[tuple[str, str], str] = {}
    for number, line in read_lines(path):
        if not line.strip():
            continue
        columns = line.split()
        lemma, _, rest = columns[0].partition("%")
        if len(columns) != 4 or rest[:1] not in POS_OF_TYPE or not columns[2].isdigit():
            raise InputError(f"{path}: line {number} is not a line of index.sense: {line[:60]!r}")
        if columns[2] == "1":
            found[lemma, POS_OF_TYPE[rest[0]]] = columns[0]
    return found

"""Sentiment trees: `(3 (2 The) (4 (3 best) (2 film)))`, a label for every phrase. [Socher et al. 2013]"""

from typing import NamedTuple

from elmo.errors import InputError

# Characters that the treebank's format takes for itself.
_ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


class Phrase(NamedTuple):
    """A phrase and its label."""

    words: tuple[str, ...]
    label: str


def read_tree(line: str, *, place: str) -> list[Phrase]:
    """All phrases of a tree, the whole sentence first."""
    tokens = line.replace("(", " ( ").replace(")", " ) ").split()
    words: list[str] = []
    found: list[Phrase | None] = []
    opened: list[tuple[int, int, str]] = []  # place in `found`, first word, label
    n = 0
    while n < len(tokens):
        token = tokens[n]
        if token == "(":
            if (found and not opened) or n + 1 >= len(tokens) or tokens[n + 1] in "()":
                raise InputError(f"{place} is not a tree: a bracket opens without a label, or after the end")
            opened.append((len(found), len(words), tokens[n + 1]))
            found.append(None)
            n += 1
        elif token == ")":
            if not opened or opened[-1][1] == len(words):
                raise InputError(f"{place} is not a tree: a bracket closes nothing, or a phrase without words")
            at, first, label = opened.pop()
            found[at] = Phrase(tuple(words[first:]), label)
        else:
            if not opened:
                raise InputError(f"{place} is not a tree: {token[:20]!r} stands outside of all brackets")
            words.append(_ESCAPES.get(token, token).replace("\\/", "/").replace("\\*", "*"))
        n += 1
    if opened or not found:
        raise InputError(f"{place} is not a tree: {len(opened)} brackets are not closed")
    return [phrase for phrase in found if phrase is not None]

"""Text that is tokenized already: tokens stand between white space, as `str.split` and bilm-tf have it."""

from elmo.text.tokens import Tokens


def tokenize(text: str, *, shift: int = 0) -> Tokens:
    """Every stretch of `text` without white space as a token, its start moved by `shift`."""
    words = text.split()
    starts = []
    end = 0
    for word in words:
        start = text.index(word, end)
        starts.append(start + shift)
        end = start + len(word)
    return Tokens(words, starts, [0] if words else [])


def words(text: str) -> list[str]:
    """The tokens alone."""
    return text.split()

"""What a file of vectors does not say of itself: whether its lines have one vector or one a token."""

from elmo.embed.bulk.readers.vectorfile import VectorFile

LINES = 1000


def is_pooled(file: VectorFile) -> bool:
    """Judged by the first lines: [D] is pooled, [L, T, D] is not, and [n, D] is where n is not the number of tokens."""
    for number in range(min(LINES, len(file))):
        line = file[number]
        if line.vectors.ndim != 2:
            return line.vectors.ndim == 1
        if len(line.vectors) != len(line.tokens):
            return True
    return False

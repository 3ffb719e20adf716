"""The paper's Table 4 with this model: neighbours of a word without a context (word2vec) and in two contexts (biLM).

    python -m recipes.english.neighbors MODEL --word2vec vectors.npz

In context the neighbours are looked for among all words of the packaged sentences, with the top layer.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import elmo
from elmo.analysis.examples import read_collection
from elmo.analysis.neighbors import find_neighbors
from elmo.embed.embedder import Embedder
from recipes.english.word2vec import read_vectors

WORD = "play"
CONTEXTS = (
    "He made a great play on a ground ball to third base.",
    "She signed to do a play in a small London theatre.",
)


def static_neighbors(vectors: dict[str, np.ndarray], word: str, count: int = 10) -> list[str]:
    """The words whose static vectors are nearest (cosine)."""
    words, matrix = list(vectors), np.stack(list(vectors.values()))
    unit = matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
    order = np.argsort(-(unit @ unit[words.index(word)]))
    return [words[n] for n in order.tolist() if words[n] != word][:count]


def table(embedder: Embedder, vectors: dict[str, np.ndarray] | None) -> dict[str, Any]:
    """Source and neighbours, as the paper's table has them."""
    found = find_neighbors(embedder, [(WORD, context) for context in CONTEXTS], read_collection(), count=2)
    return {
        "word": WORD,
        "static": [] if vectors is None else static_neighbors(vectors, WORD),
        "in context": [
            {"source": context, "nearest": [neighbor.marked for neighbor in each]}
            for context, each in zip(CONTEXTS, found, strict=True)
        ],
    }


def rows(made: dict[str, Any]) -> list[str]:
    """The rows of a Markdown table."""
    static = [f"| word2vec | {made['word']} | {', '.join(made['static'])} |"] if made["static"] else []
    return static + [f"| biLM | {each['source']} | {' / '.join(each['nearest'])} |" for each in made["in context"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a model directory or a name")
    parser.add_argument("--word2vec", type=Path, help="vectors of recipes.english.word2vec")
    arguments = parser.parse_args()
    vectors = None if arguments.word2vec is None else read_vectors(arguments.word2vec)
    print("| | source | nearest neighbours |\n|---|---|---|")
    print("\n".join(rows(table(elmo.load(arguments.model), vectors))))


if __name__ == "__main__":
    main()

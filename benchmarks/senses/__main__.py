"""Does the nearest use of an ambiguous word have its sense? By layer, and beside static word vectors.

    python -m benchmarks.senses MODEL [--word2vec vectors.npz] [--words] [--output senses.json]

24 words, 10 sentences each (five of each of two senses), written before any model was measured
(`src/elmo/analysis/data/senses.txt`). For each of the 240 uses the most similar (cosine) of the 9 other uses of the
same word is looked up: how often is it one of the 4 of the same sense? Guessing gives 4/9 = 44.4 %. The token layer
knows no context, so there all uses are equally similar and its figure means nothing.

A static vector of the word itself is the same in all sentences, so with word2vec (`benchmarks.english.word2vec`) a use
is the mean of the vectors of the other words of its sentence: all of them, and those within five places. Words without
a vector and punctuation are left out.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import elmo
from elmo.analysis.examples import Use, read_senses
from elmo.analysis.senses import SenseCount, count_words, sense_counts, share_right
from elmo.embed.similarity import place_of

WINDOW = 5


def context_means(
    uses: Sequence[Use], vectors: dict[str, np.ndarray], tokenize: Callable[[str], list[str]], *, window: int | None
) -> np.ndarray:
    """For each use the mean of the vectors of the words around it: [N, D]."""
    size = len(next(iter(vectors.values())))
    rows = []
    for use in uses:
        tokens = tokenize(use.sentence)
        place = place_of(use.word, tokens)
        near = [
            vectors[token]
            for n, token in enumerate(tokens)
            if n != place and (window is None or abs(n - place) <= window) and token.isalnum() and token in vectors
        ]
        rows.append(np.mean(near, axis=0) if near else np.zeros(size))
    return np.stack(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a model directory or a name")
    parser.add_argument("--word2vec", type=Path, help="vectors of benchmarks.english.word2vec")
    parser.add_argument("--words", action="store_true", help="show each word")
    parser.add_argument("--output", type=Path, help="write the figures here, as JSON")
    parser.add_argument("--device")
    arguments = parser.parse_args()
    uses = read_senses()
    embedder = elmo.load(arguments.model, device=arguments.device)
    results: dict[str, list[SenseCount]] = {}
    for layer, counts in enumerate(sense_counts(embedder, uses)):
        results["tokens" if layer == 0 else f"LSTM {layer}"] = counts
    if arguments.word2vec is not None:
        stored = np.load(arguments.word2vec)
        vectors = dict(zip(stored["words"].tolist(), stored["vectors"], strict=True))

        def tokenize(text: str) -> list[str]:
            return embedder.model.tokenizer.tokenize(text).words

        results["word2vec, mean of the sentence"] = count_words(
            context_means(uses, vectors, tokenize, window=None), uses
        )
        results[f"word2vec, mean within {WINDOW} places"] = count_words(
            context_means(uses, vectors, tokenize, window=WINDOW), uses
        )
    print(f"the sense of the nearest neighbour is right ({len(uses)} uses; guessing 44.4 %):")
    for name, counts in results.items():
        print(f"  {name:32s} {share_right(counts):6.1%}")
    if arguments.words:
        names = list(results)
        print(f"\n  {'':10s}" + "".join(f"{name[:20]:>22s}" for name in names))
        for row in zip(*results.values(), strict=True):
            print(f"  {row[0].word:10s}" + "".join(f"{count.right:>19d}/{count.uses}" for count in row))
    if arguments.output is not None:
        figures = {
            name: {"share": share_right(counts), "words": {count.word: count.right for count in counts}}
            for name, counts in results.items()
        }
        arguments.output.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

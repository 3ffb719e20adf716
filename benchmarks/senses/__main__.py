"""Does the nearest use of an ambiguous word have its sense? By layer, and beside static word vectors.

    python -m benchmarks.senses MODEL [--word2vec vectors.npz] [--words] [--output senses.json]

24 words, 10 sentences each (five of each of two senses), written before any model was measured
(`src/elmo/analysis/data/senses.txt`). For each of the 240 uses the most similar (cosine) of the 9 other uses of the
same word is looked up: how often is it one of the 4 of the same sense? Guessing gives 4/9 = 44.4 %. The token layer
knows no context, so there all uses are equally similar and its figure means nothing.

A static vector of the word itself is the same in all sentences, so with word2vec (`recipes.english.word2vec`) a use
is the mean of the vectors of the other words of its sentence: all of them, and those within five places. Words without
a vector and punctuation are left out.
"""

import argparse
import json
from pathlib import Path

from recipes.english.word2vec import read_vectors

import elmo
from benchmarks.senses.measure import measure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a model directory or a name")
    parser.add_argument("--word2vec", type=Path, help="vectors of recipes.english.word2vec")
    parser.add_argument("--words", action="store_true", help="show each word")
    parser.add_argument("--output", type=Path, help="write the figures here, as JSON")
    parser.add_argument("--device")
    arguments = parser.parse_args()
    vectors = None if arguments.word2vec is None else read_vectors(arguments.word2vec)
    figures = measure(elmo.load(arguments.model, device=arguments.device), vectors)
    print("the sense of the nearest neighbour is right (guessing 44.4 %):")
    for name, found in figures.items():
        print(f"  {name:32s} {found['share']:6.1%}")
    if arguments.words:
        print("\n  of 10:     " + "".join(f"{name[:20]:>22s}" for name in figures))
        for word in next(iter(figures.values()))["words"]:
            print(f"  {word:10s} " + "".join(f"{found['words'][word]:>22d}" for found in figures.values()))
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

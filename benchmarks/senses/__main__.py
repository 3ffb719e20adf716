"""Does the nearest use of an ambiguous word have its sense? By layer, and beside static word vectors.

    python -m benchmarks.senses MODEL [--set open] [--word2vec vectors.npz] [--words] [--output senses.json]

There are two sets of sentences, both written before any model was measured on them; both are reported unless `--set`
chooses one. `first` (`src/elmo/analysis/data/senses.txt`) has 24 words with 10 sentences each, five of each of two
senses. `open` (`senses-open.txt`) has 25 other words with 20 sentences each, of two senses or of three: questions,
dialogue, long and short sentences, the word at the beginning, in the middle and at the end.

For each use the most similar (cosine) of the other uses of the same word is looked up: how often is it one of the same
sense? Guessing gives 44.4 % and 43.2 %. The token layer knows no context, so there all uses are equally similar and its
figure means nothing.

A static vector of the word itself is the same in all sentences, so with word2vec (`recipes.english.word2vec`) a use
is the mean of the vectors of the other words of its sentence: all of them, and those within five places. Words without
a vector and punctuation are left out. `benchmarks.senses.transformer` measures a transformer on the same sentences.
"""

import argparse
import json
from pathlib import Path

from recipes.english.word2vec import read_vectors

import elmo
from benchmarks.senses.measure import describe, measure
from elmo.analysis.examples import SENSE_SETS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a model directory or a name")
    parser.add_argument("--set", choices=SENSE_SETS, action="append", help="one set of sentences, instead of both")
    parser.add_argument("--word2vec", type=Path, help="vectors of recipes.english.word2vec")
    parser.add_argument("--words", action="store_true", help="show each word")
    parser.add_argument("--output", type=Path, help="write the figures here, as JSON")
    parser.add_argument("--device")
    arguments = parser.parse_args()
    vectors = None if arguments.word2vec is None else read_vectors(arguments.word2vec)
    embedder = elmo.load(arguments.model, device=arguments.device)
    found = {}
    for name in arguments.set or SENSE_SETS:
        found[name] = measure(embedder, vectors, name=name)
        print(describe(name, found[name], words=arguments.words), flush=True)
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

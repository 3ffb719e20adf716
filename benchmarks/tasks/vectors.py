"""A small file of word vectors: only the words of some task files, for a machine that is far away.

    python -m benchmarks.tasks.vectors glove.npz -o small.npz --ner ner/eng.* --classification sst/trees/*.txt

A word that no file has is not looked up; only the scale at which unknown words are drawn is that of the vectors kept.
Numbers are stored as float16.
"""

import argparse
from pathlib import Path

from elmo.tasks.embedding.wordlist import spellings
from elmo.tasks.embedding.wordvectors import read_word_vectors, write_word_vectors
from elmo.tasks.recipes import RECIPES, find_recipe


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vectors")
    parser.add_argument("-o", "--output", type=Path, required=True)
    for name in RECIPES:
        parser.add_argument(f"--{name}", nargs="*", default=[], metavar="FILE")
    given = parser.parse_args(arguments)
    words: set[str] = set()
    for name in RECIPES:
        task = find_recipe(name).make_task()
        for path in getattr(given, name):
            for example in task.read(path):
                for text in example.texts:
                    words.update(way for word in set(text.tokens) for way in spellings(word))
    kept = read_word_vectors(given.vectors).only(words)
    write_word_vectors(kept, given.output, dtype="float16")
    print(f"{len(kept.words):,} vectors of {len(words):,} words: {given.output.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()

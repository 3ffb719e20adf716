"""Static word vectors (word2vec by gensim) from the training split of a corpus store, with its vocabulary.

    python -m recipes.english.word2vec STORE --work FOLDER -o vectors.npz

Words outside the vocabulary are left out. `vectors.npz` holds `words` and `vectors` [W, D]; `benchmarks.senses`
reads it.
"""

import argparse
import logging
import time
from pathlib import Path

import numpy as np

from elmo.corpus.store import CorpusStore
from elmo.tasks.embedding.wordvectors import read_word_vectors
from elmo.text.vocabulary import BEGIN_SENTENCE_ID, END_SENTENCE_ID, UNKNOWN_ID
from recipes.english.idtext import folder_for, write_ids


def read_vectors(path: Path) -> dict[str, np.ndarray]:
    """The vector of each word."""
    found = read_word_vectors(path)
    return dict(zip(found.words, found.vectors, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="a folder for the text of ids")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--dimensions", type=int, default=300)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--skip-gram", action="store_true", help="instead of CBOW")
    arguments = parser.parse_args()
    from gensim.models import Word2Vec

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    store = CorpusStore.open(arguments.store)
    text = folder_for(store, arguments.work) / "forward.txt"
    write_ids(store, "train", text)
    began = time.perf_counter()
    model = Word2Vec(
        vector_size=arguments.dimensions,
        window=5,
        negative=5,
        min_count=1,
        sample=1e-4,
        sg=int(arguments.skip_gram),
        workers=arguments.workers,
        seed=1,
    )
    counts = np.bincount(store.type_targets, weights=store.type_counts, minlength=len(store.vocabulary)).astype(int)
    # The counts are known, so gensim need not read the text for them. Ends of sentences are no words of the text.
    frequencies = {str(n): int(c) for n, c in enumerate(counts) if c and n not in (BEGIN_SENTENCE_ID, END_SENTENCE_ID)}
    model.build_vocab_from_freq(frequencies, corpus_count=store.counts["train"].sentences)
    model.train(corpus_file=str(text), total_words=store.counts["train"].words, epochs=arguments.epochs)
    ids = [key for key in model.wv.index_to_key if int(key) != UNKNOWN_ID]
    words = np.array([store.vocabulary.words[int(key)] for key in ids])
    np.savez(arguments.output, words=words, vectors=model.wv[ids].astype(np.float32))
    print(f"{len(words):,} vectors of {arguments.dimensions} after {(time.perf_counter() - began) / 60:.1f} minutes")


if __name__ == "__main__":
    main()

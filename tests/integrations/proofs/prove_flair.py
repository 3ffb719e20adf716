"""`ELMoEmbeddings` in Flair, in a process of its own: FOLDER of a model, OUTPUT folder.

Flair has no several processes without GPUs (`multi_gpu=True`), so that none are tried.
"""

import pickle
import sys
from pathlib import Path

import flair
import numpy as np
from flair.data import Corpus, Sentence
from flair.datasets import FlairDatapointDataset
from flair.embeddings import StackedEmbeddings
from flair.models import SequenceTagger
from flair.trainers import ModelTrainer
from same import assert_same
from texts import SENTENCES

import elmo
from elmo.integrations.flair import ELMoEmbeddings


def vectors_of(embeddings: ELMoEmbeddings) -> list[np.ndarray]:
    sentences = [Sentence(words) for words in SENTENCES]
    embeddings.embed(sentences)
    return [np.stack([token.embedding.numpy() for token in sentence]) for sentence in sentences]


def main(folder: str, output: Path) -> None:
    layers = elmo.load(folder).encode(SENTENCES, layers="all")
    whole = [np.concatenate(list(rows), axis=-1) for rows in layers]
    for mode, expected in (
        ("all", whole),
        ("top", [rows[-1] for rows in layers]),
        ("average", [rows.mean(0) for rows in layers]),
    ):
        embeddings = ELMoEmbeddings(folder, embedding_mode=mode)
        assert_same(vectors_of(embeddings), expected)
        assert_same(vectors_of(ELMoEmbeddings.from_params(embeddings.to_params())), expected)
        assert_same(vectors_of(pickle.loads(pickle.dumps(embeddings))), expected)
    train(folder, output)


def train(folder: str, output: Path) -> None:
    """One epoch of a tagger."""
    flair.set_seed(1)
    data = []
    for words in SENTENCES * 6:
        sentence = Sentence(words)
        for token in sentence:
            token.add_label("size", "LONG" if len(token.text) > 3 else "SHORT")
        data.append(sentence)
    dataset = FlairDatapointDataset(data)
    corpus = Corpus(train=dataset, dev=dataset, test=dataset, name="sizes")
    tagger = SequenceTagger(
        embeddings=StackedEmbeddings([ELMoEmbeddings(folder)]),
        tag_dictionary=corpus.make_label_dictionary("size", add_unk=False),
        tag_type="size",
        hidden_size=16,
        use_crf=False,
    )
    before = loss(tagger, data)
    ModelTrainer(tagger, corpus).train(
        output / "run", max_epochs=1, learning_rate=0.1, mini_batch_size=4, save_final_model=False
    )
    after = loss(tagger, data)
    assert after < before
    tagger.save(output / "tagger.pt")
    assert_same(loss(SequenceTagger.load(output / "tagger.pt"), data), after)


def loss(tagger: SequenceTagger, data: list[Sentence]) -> float:
    tagger.eval()
    return float(tagger.forward_loss(data)[0].detach()) / sum(len(sentence) for sentence in data)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

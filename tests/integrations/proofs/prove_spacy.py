"""The component and the layer in spaCy, in a process of its own: FOLDER of a model, OUTPUT folder."""

import pickle
import sys
from pathlib import Path

import numpy as np
import spacy
from same import assert_same
from spacy.tokens import Doc
from spacy.training import Example
from texts import TEXTS

import elmo


def main(folder: str, output: Path) -> None:
    embedder = elmo.load(folder)
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("elmo", config={"model": folder, "layers": "all", "hooks": False, "num_threads": 1})
    docs = [nlp(text) for text in TEXTS]
    expected = [
        np.concatenate(embedder.encode([[t.text for t in s] for s in doc.sents], layers="all"), axis=1) for doc in docs
    ]
    assert_same([doc._.elmo for doc in docs], expected)
    assert_same([doc.tensor for doc in docs], [layers.mean(0) for layers in expected])
    assert_same([doc._.elmo for doc in nlp.pipe(TEXTS, batch_size=2, n_process=2)], expected)
    nlp.to_disk(output / "pipeline")
    assert_same([doc._.elmo for doc in spacy.load(output / "pipeline").pipe(TEXTS)], expected)
    component = pickle.loads(pickle.dumps(nlp.get_pipe("elmo")))
    assert_same(component(nlp.get_pipe("sentencizer")(nlp.make_doc(TEXTS[3])))._.elmo, expected[3])
    train(folder, output)


def train(folder: str, output: Path) -> None:
    """One epoch of a tagger on the layer `elmo.Tok2Vec.v1`."""
    spacy.util.fix_random_seed(1)
    nlp = spacy.blank("en")
    architecture = {"@architectures": "elmo.Tok2Vec.v1", "model": folder}
    nlp.add_pipe("tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": architecture}})
    examples = []
    for text in TEXTS:
        words = [token.text for token in nlp.make_doc(text)]
        tagged = Doc(nlp.vocab, words, tags=["LONG" if len(word) > 3 else "SHORT" for word in words])
        examples.append(Example(nlp.make_doc(text), tagged))
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.02
    before = loss(nlp, examples)
    for example in examples:
        nlp.update([example], sgd=optimizer)
    assert loss(nlp, examples) < before
    nlp.to_disk(output / "tagger")
    assert_same(outputs(spacy.load(output / "tagger")), outputs(nlp))


def outputs(nlp: spacy.Language) -> list[np.ndarray]:
    """What the tagger's network gives for each text."""
    return nlp.get_pipe("tagger").model.predict([nlp.make_doc(text) for text in TEXTS])


def loss(nlp: spacy.Language, examples: list[Example]) -> float:
    """What the tagger is wrong by; without `update` nothing is learned from it."""
    tagger = nlp.get_pipe("tagger")
    scores, _ = tagger.model.begin_update([example.predicted for example in examples])  # probabilities, not logits
    return float(tagger.get_loss(examples, scores)[0])


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

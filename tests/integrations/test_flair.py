"""`ELMoEmbeddings` with the real Flair: the vectors of `encode`, a tagger trained, saved and loaded."""

from pathlib import Path

import numpy as np
import pytest
from tests.integrations.making import SENTENCES, write_tiny

pytest.importorskip("flair", reason="needs Flair, the extra `flair`, in an environment of its own")

import flair
from flair.data import Corpus, Sentence
from flair.datasets import FlairDatapointDataset
from flair.embeddings import StackedEmbeddings
from flair.models import SequenceTagger
from flair.trainers import ModelTrainer

import elmo
from elmo.integrations.flair import ELMoEmbeddings

pytestmark = pytest.mark.flair


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny(tmp_path_factory.mktemp("model") / "tiny")


@pytest.mark.parametrize(("mode", "layers"), [("all", "all"), ("top", "top"), ("average", "mean")])
def test_vectors_are_those_of_encode(folder: Path, mode: str, layers: str) -> None:
    sentences = [Sentence(words) for words in SENTENCES]
    embeddings = ELMoEmbeddings(str(folder), embedding_mode=mode)
    embeddings.embed(sentences)
    for sentence, expected in zip(sentences, elmo.load(folder).encode(SENTENCES, layers=layers), strict=True):
        rows = np.concatenate(list(expected), axis=-1) if mode == "all" else expected
        assert rows.shape[1] == embeddings.embedding_length
        np.testing.assert_allclose(np.stack([t.embedding.numpy() for t in sentence]), rows, atol=1e-6)


def test_an_unknown_mode_is_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match="embedding_mode is 'mean'"):
        ELMoEmbeddings(str(folder), embedding_mode="mean")


@pytest.mark.filterwarnings("ignore:`torch.cuda.amp.GradScaler:FutureWarning")  # Flair's own, with today's torch
def test_a_tagger_learns_is_saved_without_the_bilm_and_loaded(folder: Path, tmp_path: Path) -> None:
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
        embeddings=StackedEmbeddings([ELMoEmbeddings(str(folder))]),
        tag_dictionary=corpus.make_label_dictionary("size", add_unk=False),
        tag_type="size",
        hidden_size=16,
        use_crf=False,
    )
    before, _ = tagger.forward_loss(data)
    ModelTrainer(tagger, corpus).train(
        tmp_path / "run", max_epochs=5, learning_rate=0.5, mini_batch_size=4, save_final_model=True
    )
    after, _ = tagger.forward_loss(data)
    assert float(after.detach()) < 0.8 * float(before.detach())
    tagger.save(tmp_path / "tagger.pt")
    again = SequenceTagger.load(tmp_path / "tagger.pt")
    for sentence in (Sentence(words) for words in SENTENCES):
        other = Sentence([token.text for token in sentence])
        tagger.predict(sentence)
        again.predict(other)
        assert [t.tag for t in sentence] == [t.tag for t in other]
    assert not any("bilm" in name for name in again.state_dict())

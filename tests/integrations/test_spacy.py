"""The component and the layer with the real spaCy: the vectors of `encode`, pipes, processes, disk, `spacy train`."""

import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.integrations.making import TEXTS, write_tiny

pytest.importorskip("spacy", reason="needs spaCy, the extra `spacy` (make test-integrations has it)")

import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example

import elmo

pytestmark = pytest.mark.integration
TAGS = {True: "LONG", False: "SHORT"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny(tmp_path_factory.mktemp("model") / "tiny")


def pipeline(folder: Path, **config: object) -> spacy.Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("elmo", config={"model": str(folder), **config})
    return nlp


def expected(folder: Path, doc: Doc, layers: str | int = "mean") -> np.ndarray:
    sentences = [[token.text for token in sentence if not token.is_space] for sentence in doc.sents]
    return np.concatenate(elmo.load(folder).encode(sentences, layers=layers), axis=-2)


@pytest.mark.parametrize("layers", ["mean", "top", 0, 1, 2])
def test_vectors_are_those_of_encode_sentence_by_sentence(folder: Path, layers: str | int) -> None:
    doc = pipeline(folder, layers=layers)(TEXTS[3])
    assert doc.tensor.shape == (len(doc), 16)
    np.testing.assert_allclose(doc.tensor, expected(folder, doc, layers), atol=1e-6)
    np.testing.assert_allclose(doc[2].vector, doc.tensor[2])
    np.testing.assert_allclose(doc.vector, doc.tensor.mean(0), atol=1e-6)


def test_all_layers_are_an_extension(folder: Path) -> None:
    doc = pipeline(folder, layers="all")(TEXTS[3])
    np.testing.assert_allclose(doc._.elmo, expected(folder, doc, "all"), atol=1e-6)
    np.testing.assert_allclose(doc.tensor, doc._.elmo.mean(0), atol=1e-6)


def test_a_text_without_sentences_is_one_sentence(folder: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("elmo", config={"model": str(folder)})
    doc = nlp(TEXTS[3])
    np.testing.assert_allclose(doc.tensor, elmo.load(folder).encode([[t.text for t in doc]])[0], atol=1e-6)


def test_white_space_and_empty_texts_have_no_vectors(folder: Path) -> None:
    nlp = pipeline(folder)
    assert nlp("").tensor.shape == (0, 16)
    doc = nlp("Fog  \n again .")
    np.testing.assert_allclose(doc.tensor[[0, 2, 3]], elmo.load(folder).encode([["Fog", "again", "."]])[0], atol=1e-6)
    assert not doc[1].vector.any()
    assert [d.tensor.shape for d in nlp.pipe(["", "   ", "a"])] == [(0, 16), (1, 16), (1, 16)]


def test_a_pipe_gives_what_single_calls_give(folder: Path) -> None:
    nlp = pipeline(folder)
    for doc, alone in zip(nlp.pipe(TEXTS, batch_size=3), map(nlp, TEXTS), strict=True):
        np.testing.assert_allclose(doc.tensor, alone.tensor, atol=1e-6)


def test_two_processes_give_what_one_gives(folder: Path) -> None:
    nlp = pipeline(folder, hooks=False, num_threads=1)
    alone = [doc.tensor for doc in map(nlp, TEXTS)]
    for doc, tensor in zip(nlp.pipe(TEXTS, n_process=2, batch_size=2), alone, strict=True):
        np.testing.assert_allclose(doc.tensor, tensor, atol=1e-6)


def test_equal_spellings_differ_by_their_sentences(folder: Path) -> None:
    doc = pipeline(folder)("I sat on the river bank. The bank is closed.")
    one, other = [token for token in doc if token.text == "bank"]
    a, b = doc.tensor[one.i], doc.tensor[other.i]
    cosine = float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
    assert one.similarity(other) == pytest.approx(cosine, abs=1e-5)
    assert cosine < 0.9999
    assert doc[0:6].similarity(doc[0:6]) == pytest.approx(1.0, abs=1e-5)


def test_vectors_of_the_vocabulary_do_not_hide_ours(folder: Path) -> None:
    nlp = pipeline(folder)
    nlp.vocab.set_vector("bank", np.ones(4, dtype="float32"))
    doc = nlp("The bank is closed.")
    np.testing.assert_allclose(doc[1].vector, doc.tensor[1])
    np.testing.assert_allclose(doc[0:2].vector, doc.tensor[0:2].mean(0), atol=1e-6)
    np.testing.assert_allclose(doc.vector, doc.tensor.mean(0), atol=1e-6)


def test_a_pipeline_on_disk_brings_its_model(folder: Path, tmp_path: Path) -> None:
    nlp = pipeline(folder)
    tensor = nlp(TEXTS[0]).tensor
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    assert again.get_pipe("elmo").source == str(tmp_path / "pipeline" / "elmo" / "model")
    np.testing.assert_allclose(again(TEXTS[0]).tensor, tensor, atol=1e-6)
    other = pipeline(folder).from_bytes(nlp.to_bytes())
    np.testing.assert_allclose(other(TEXTS[0]).tensor, tensor, atol=1e-6)


def test_a_pickled_component_holds_no_model(folder: Path) -> None:
    nlp = pipeline(folder)
    doc = nlp(TEXTS[0])
    data = pickle.dumps(nlp.get_pipe("elmo"))
    assert len(data) < 100_000  # spaCy's vocabulary
    again = pickle.loads(data)(nlp.make_doc(TEXTS[0]))
    np.testing.assert_allclose(again.tensor, doc.tensor, atol=1e-6)


def test_errors_go_to_the_handler_of_the_pipeline(tmp_path: Path) -> None:
    nlp = pipeline(tmp_path / "nothing")
    with pytest.raises(elmo.ElmoError, match="no such file"):
        nlp("a")
    seen = []
    nlp.set_error_handler(lambda name, *_: seen.append(name))
    assert list(nlp.pipe(["a", "b"])) == []
    assert seen == ["elmo"]


def tagged(nlp: spacy.Language) -> list[Doc]:
    docs = []
    for text in TEXTS:
        doc = nlp.make_doc(text)
        docs.append(Doc(nlp.vocab, [t.text for t in doc], tags=[TAGS[len(t) > 3] for t in doc]))
    return docs


def train_tagger(model: Path, **options: object) -> tuple[spacy.Language, list[float]]:
    """A tagger that has learned, and its losses."""
    spacy.util.fix_random_seed(1)
    nlp = spacy.blank("en")
    architecture = {"@architectures": "elmo.Tok2Vec.v1", "model": str(model), **options}
    nlp.add_pipe("tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": architecture}})
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in tagged(nlp)]
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.02
    return nlp, [nlp.update(examples, sgd=optimizer)["tagger"] for _ in range(15)]


def outputs_of(nlp: spacy.Language) -> list[np.ndarray]:
    """What the tagger's network gives for each text."""
    return nlp.get_pipe("tagger").model.predict([nlp.make_doc(text) for text in TEXTS])


@pytest.mark.parametrize("train_bilm", [False, True])
def test_a_tagger_on_the_layer_learns_and_is_read_again(folder: Path, tmp_path: Path, train_bilm: bool) -> None:
    nlp, losses = train_tagger(folder, train_bilm=train_bilm)
    assert losses[-1] < 0.7 * losses[0]
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    for ours, theirs in zip(outputs_of(nlp), outputs_of(again), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert [t.tag_ for t in again("")] == []


@pytest.mark.parametrize("train_bilm", [False, True])
def test_a_trained_pipeline_brings_its_model_along(tmp_path: Path, train_bilm: bool) -> None:
    """The folder that it was trained from may be gone, also when it is saved anew."""
    nlp, _ = train_tagger(write_tiny(tmp_path / "own"), train_bilm=train_bilm)
    nlp.to_disk(tmp_path / "pipeline")
    shutil.rmtree(tmp_path / "own")
    again = spacy.load(tmp_path / "pipeline")
    again.to_disk(tmp_path / "second")
    shutil.rmtree(tmp_path / "pipeline")
    third = spacy.load(tmp_path / "second")
    learning = {
        name
        for name, p in third.get_pipe("tagger").model.get_ref("tok2vec").shims[0]._model.named_parameters()
        if p.requires_grad
    }
    assert (learning != {"weights", "gamma"}) is train_bilm
    for other in (again, third, spacy.blank("en").from_config(again.config).from_bytes(again.to_bytes())):
        for ours, theirs in zip(outputs_of(nlp), outputs_of(other), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_a_model_that_is_nowhere_is_named_when_it_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(elmo.ElmoError, match="nothing: there is no such file"):
        train_tagger(tmp_path / "nothing")
    nlp, _ = train_tagger(write_tiny(tmp_path / "own"), save_bilm=False)
    nlp.to_disk(tmp_path / "pipeline")
    shutil.rmtree(tmp_path / "own")
    with pytest.raises(elmo.ElmoError, match="own: there is no such file"):
        spacy.load(tmp_path / "pipeline")
    with pytest.raises(elmo.ElmoError, match="save_bilm=False would lose the biLM"):
        train_tagger(tmp_path / "own", train_bilm=True, save_bilm=False)


CONFIG = """
[nlp]
lang = "en"
pipeline = ["tok2vec", "tagger"]

[components]

[components.tok2vec]
factory = "tok2vec"
[components.tok2vec.model]
@architectures = "elmo.Tok2Vec.v1"
model = "{model}"

[components.tagger]
factory = "tagger"
[components.tagger.model]
@architectures = "spacy.Tagger.v2"
[components.tagger.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 16

[corpora]

[corpora.train]
@readers = "spacy.Corpus.v1"
path = "{data}"
[corpora.dev]
@readers = "spacy.Corpus.v1"
path = "{data}"

[training]
max_steps = 40
eval_frequency = 20
[training.optimizer]
@optimizers = "Adam.v1"
learn_rate = 0.02
"""


def test_spacy_train_runs_in_a_process_of_its_own(folder: Path, tmp_path: Path) -> None:
    DocBin(docs=tagged(spacy.blank("en"))).to_disk(tmp_path / "data.spacy")
    text = CONFIG.format(model=folder, data=tmp_path / "data.spacy")
    (tmp_path / "base.cfg").write_text(text, encoding="utf-8")
    for command in (
        ["init", "fill-config", "base.cfg", "config.cfg"],
        ["train", "config.cfg", "--output", "out"],
        ["evaluate", "out/model-best", "data.spacy"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "spacy", *command], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    accuracy = spacy.load(tmp_path / "out" / "model-best").meta["performance"]["tag_acc"]
    assert accuracy > 0.6

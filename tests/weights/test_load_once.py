"""Loading reads each file once, and the vocabulary when it is asked for."""

import copy
import pickle
import threading

import pytest
import torch
from tests.weights.making import WORDS, make_model

from elmo.apps.cli.main import main
from elmo.embed.loading import load
from elmo.errors import WeightsError
from elmo.model.bilm import BiLM
from elmo.text.vocabulary import UnreadVocabulary, Vocabulary
from elmo.weights import native
from elmo.weights.choices import Writable
from elmo.weights.formats import FORMATS, read_model, write_model
from elmo.weights.guarded import arrayfile
from elmo.weights.softmax import Softmax
from elmo.weights.verify import verify_model


@pytest.fixture
def model_path(tmp_path):
    whole = make_model().replace(vocabulary=Vocabulary(WORDS), softmax=Softmax(torch.zeros(7, 8), torch.zeros(7)))
    write_model(whole, tmp_path / "model")
    return tmp_path / "model"


def _count(monkeypatch, owner, name):
    calls, real = [], getattr(owner, name)

    def counted(*arguments, **options):
        calls.append(arguments)
        return real(*arguments, **options)

    monkeypatch.setattr(owner, name, counted)
    return calls


def test_each_file_is_read_once_and_the_vocabulary_not_at_all(model_path, monkeypatch):
    configs = _count(monkeypatch, native, "read_json")
    headers = _count(monkeypatch, arrayfile, "read_entries")
    built = _count(monkeypatch, BiLM, "__init__")
    words = _count(monkeypatch, UnreadVocabulary, "read")
    embedder = load(model_path, device="cpu")
    embedder.encode("We rowed to the far bank.")
    assert [len(calls) for calls in (configs, headers, built, words)] == [1, 1, 0, 0]
    assert embedder.model.vocabulary is embedder.model.vocabulary
    assert len(words) == 1


def test_a_model_keeps_its_vocabulary_when_its_files_are_replaced(model_path):
    model = read_model(model_path)
    (model_path / "vocab.txt").write_text("<S>\n</S>\n<UNK>\n", encoding="utf-8")
    assert model.vocabulary is not None
    assert list(model.vocabulary.words) == list(WORDS)


def test_copies_and_pickles_keep_an_unread_vocabulary(model_path):
    model = read_model(model_path)
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), model.replace(card="# Card")):
        assert again.vocabulary == Vocabulary(WORDS)
        assert again.sha256 == model.sha256


def test_threads_that_ask_at_once_get_equal_vocabularies(model_path):
    model, answers = read_model(model_path), []
    threads = [threading.Thread(target=lambda: answers.append(model.vocabulary)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [Vocabulary(WORDS)] * 8


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"the\n", "vocab.txt: line 1 is 'the', but the first entry must be '<S>'"),
        (b"<S>\n</S>\n<UNK>\nthe\n", "softmax.weight is"),
        (b"<S>\n</S>\n<UNK>\n\xff\n", "vocab.txt: line 4 is not UTF-8"),
    ],
)
def test_a_broken_vocabulary_is_refused_where_it_is_used(content, message, model_path, tmp_path):
    (model_path / "vocab.txt").write_bytes(content)
    assert len(load(model_path, device="cpu").encode("We rowed.")) == 3
    for _ in range(2):
        with pytest.raises(WeightsError, match=message):
            _ = read_model(model_path).vocabulary
    with pytest.raises(WeightsError, match=message):
        write_model(read_model(model_path), tmp_path / "copy")
    findings = [finding for finding in verify_model(model_path) if not finding.ok]
    assert message.split(":")[-1].strip() in findings[0].what
    assert main(["verify", str(model_path)]) == 1
    assert main(["info", str(model_path)]) != 0


def test_every_format_has_a_name_of_its_own_and_the_writable_ones_are_typed():
    names = [known.name for known in FORMATS]
    assert len(set(names)) == len(names)
    assert list(Writable.__args__) == [known.name for known in FORMATS if known.write is not None]

"""Fine-tuning: from a model with a softmax, from one of HDF5 alone, with other words, and after an interruption."""

import dataclasses

import pytest
import torch

from elmo.corpus.store import CorpusStore
from elmo.errors import ConfigError, ResumeError
from elmo.lm.adaptive import AdaptiveConfig
from elmo.lm.perplexity import store_perplexity
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.extension import extend_softmax, extended_vocabulary
from elmo.pretrain.finetuning import finetune
from elmo.pretrain.pretraining import pretrain
from elmo.pretrain.softmax import new_softmax, train_softmax
from elmo.pretrain.step.optimizers import AdamConfig
from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import UNKNOWN_ID, Vocabulary
from elmo.weights.formats import read_model, write_model
from elmo.weights.softmaxfile import add_softmax
from elmo.weights.tensors import content_sha256

QUICK = {"batch_size": 4, "window": 10, "evaluate_every": 10, "dropout": 0.0}
SOFTMAX = TrainConfig(**QUICK, steps=20, optimizer=AdamConfig(learning_rate=0.02))
TUNE = TrainConfig(**QUICK, steps=40, optimizer=AdamConfig(learning_rate=0.005))


@pytest.fixture(scope="module")
def general(toy_store, tmp_path_factory):
    run = tmp_path_factory.mktemp("general")
    config = TrainConfig(**QUICK, size="tiny", steps=40, optimizer=AdamConfig(learning_rate=0.01))
    return pretrain(toy_store, config, run, device="cpu", tensorboard=False).model


@pytest.fixture(scope="module")
def domain(make_store, tmp_path_factory):
    """Sentences of another kind, with new words."""
    folder = tmp_path_factory.mktemp("domain") / "store"
    sentences = [["the", "gene", f"p{n % 5}", "binds", "two", "proteins", "."] for n in range(150)]
    return make_store(folder, sentences, sentences[:30])


def tune(model, store, out, **options):
    return finetune(
        model, store, out, **{"config": TUNE, "softmax_config": SOFTMAX, **options}, device="cpu", tensorboard=False
    )


def test_a_model_from_hdf5_alone_gets_a_softmax_and_improves(general, domain, tmp_path):
    write_model(read_model(general), tmp_path / "hdf5", format="bilm-tf")
    bare = read_model(tmp_path / "hdf5")
    assert bare.softmax is None
    weights = bare.sha256
    result = tune(bare, domain, tmp_path / "run")
    assert result.status == "finished"
    assert result.after.average < result.before.average
    after_softmax = read_model(tmp_path / "run" / "softmax" / "model")
    assert after_softmax.sha256 == weights  # the biLM stayed as it was in the first stage
    assert result.before == store_perplexity(after_softmax, CorpusStore.open(domain), state="carry", device="cpu")
    native, hdf5 = read_model(result.model), read_model(result.hdf5)
    assert native.sha256 == hdf5.sha256 != weights
    assert "gene" in native.vocabulary
    assert native.tokenizer == bare.tokenizer
    assert f"{result.before.average:.2f}" in native.card
    assert native.card.startswith("---\nlibrary_name: elmo\n")


def test_a_model_without_a_softmax_learns_one_on_general_text_and_keeps_its_words(
    general, domain, toy_store, tmp_path, caplog
):
    bare = dataclasses.replace(read_model(general), softmax=None, vocabulary=None)
    statuses = [tune(bare, domain, tmp_path / "run", general=toy_store, time_limit=0).status]
    result = tune(bare, domain, tmp_path / "run", general=toy_store, resume=True)
    assert [*statuses, result.status] == ["time limit", "finished"]
    words = read_model(result.model).vocabulary.words
    known = CorpusStore.open(toy_store).vocabulary.words
    assert words[: len(known)] == known
    assert "gene" in words[len(known) :]
    assert result.new_words == len(words) - len(known)
    assert result.gained
    assert "pulls the biLM along" not in caplog.text
    assert read_model(tmp_path / "run" / "general" / "softmax" / "model").sha256 == bare.sha256
    straight = tune(bare, domain, tmp_path / "straight", general=toy_store)
    assert read_model(straight.model).sha256 == read_model(result.model).sha256


def test_general_text_for_a_model_with_a_softmax_is_refused(general, domain, toy_store, tmp_path):
    with pytest.raises(ConfigError, match="has a softmax, so that it needs no general text"):
        tune(read_model(general), domain, tmp_path / "run", general=toy_store)
    assert not (tmp_path / "run").exists()


def test_a_domain_alone_for_a_model_without_a_softmax_is_warned_of(general, domain, tmp_path, caplog):
    bare = dataclasses.replace(read_model(general), softmax=None, vocabulary=None)
    tune(bare, domain, tmp_path / "run", config=TUNE.replace(steps=1), softmax_config=SOFTMAX.replace(steps=1))
    assert "learned on the domain alone pulls the biLM along" in caplog.text


def test_a_model_with_the_same_vocabulary_goes_on_at_once(general, toy_store, tmp_path):
    model = read_model(general)
    weights, softmax = model.sha256, model.softmax.weight.clone()
    result = tune(model, toy_store, tmp_path / "run")
    assert not (tmp_path / "run" / "softmax").exists()
    assert result.after.average < result.before.average
    # The model that was given is as it was.
    assert content_sha256(model.bilm.state_dict()) == weights
    assert torch.equal(model.softmax.weight, softmax)
    assert all(p.requires_grad for p in model.bilm.parameters())


def test_a_model_with_a_softmax_keeps_its_words_and_learns_those_of_the_domain(general, domain, tmp_path):
    model, store = read_model(general), CorpusStore.open(domain)
    result = tune(model, domain, tmp_path / "run")
    assert not (tmp_path / "run" / "softmax").exists()
    tuned = read_model(result.model)
    known = len(model.vocabulary)
    assert tuned.vocabulary.words[:known] == model.vocabulary.words
    assert "gene" in tuned.vocabulary.words[known:]
    assert (result.vocabulary, result.new_words) == (len(tuned.vocabulary), len(tuned.vocabulary) - known)
    assert result.before.unknown == result.after.unknown == 0
    assert result.after == store_perplexity(tuned, store, state="carry", device="cpu")
    assert f"| after | {result.after.forward:.2f}" in tuned.card
    assert tuned.card.startswith("---\nlibrary_name: elmo\n")
    assert f"{result.new_words} of them new words" in tuned.card


def test_new_words_share_what_the_model_gave_to_unknown_ones(general, domain):
    model, store = read_model(general), CorpusStore.open(domain)
    over_both = store.with_vocabulary(extended_vocabulary(model, store))
    started = extend_softmax(model, over_both)
    hidden = torch.randn(3, model.config.lstm.output_dim, generator=torch.Generator().manual_seed(1))
    old, new = ((hidden @ m.softmax.weight.T + m.softmax.bias).softmax(-1) for m in (model, started))
    known = [n for n in range(len(model.vocabulary)) if n != UNKNOWN_ID]
    assert torch.allclose(new[:, known], old[:, known], rtol=1e-4)
    shared = new[:, UNKNOWN_ID] + new[:, len(old[0]) :].sum(-1)
    assert torch.allclose(shared, old[:, UNKNOWN_ID], rtol=1e-4)
    words = started.vocabulary
    assert torch.allclose(new[:, words.id_of("gene")], 5 * new[:, words.id_of("p3")], rtol=1e-4)  # by their frequency


def test_a_training_that_gains_nothing_leaves_the_model_as_it_was_and_says_so(general, domain, tmp_path, caplog):
    model = read_model(general)
    harmful = TUNE.replace(steps=2, optimizer=AdamConfig(learning_rate=5.0), evaluate_every=2)
    result = tune(model, domain, tmp_path / "run", config=harmful)
    assert result.done
    assert not result.gained
    tuned = read_model(result.model)
    assert tuned.sha256 == model.sha256
    assert "gene" in tuned.vocabulary
    assert "not predicted better" in caplog.text
    assert "not predicted better" in tuned.card


def test_a_vocabulary_that_lacks_much_of_the_text_is_warned_of(general, make_store, tmp_path, caplog):
    sentences = [["the", "gene", f"p{n % 5}", "binds", "two", "proteins", "."] for n in range(60)]
    store = make_store(tmp_path / "store", sentences, sentences[:10], vocabulary=6)
    bare = dataclasses.replace(read_model(general), softmax=None, vocabulary=None)
    tune(bare, store, tmp_path / "run", config=TUNE.replace(steps=1), softmax_config=SOFTMAX.replace(steps=1))
    assert "57.1 % of the held-out words are outside the vocabulary of 6" in caplog.text
    assert "use more text or a model with a softmax" in caplog.text


def test_few_held_out_words_are_warned_of(general, domain, tmp_path, caplog):
    tune(read_model(general), domain, tmp_path / "run", config=TUNE.replace(steps=1))
    assert "words are held out, too few to tell whether a fine-tuning helps" in caplog.text


def test_a_model_with_a_softmax_is_not_told_to_have_one(general, make_store, tmp_path, caplog):
    sentences = [[f"p{n}" for n in range(start, start + 7)] for start in range(40)]
    store = make_store(tmp_path / "store", sentences, sentences[:10], vocabulary=6)
    tune(read_model(general), store, tmp_path / "run", config=TUNE.replace(steps=1))
    assert "count as one class" in caplog.text
    assert caplog.text.count("use more text") == 1
    assert "a model with a softmax" not in caplog.text


def test_a_folder_that_holds_a_run_is_refused_before_anything_is_measured(general, domain, tmp_path, monkeypatch):
    tune(read_model(general), domain, tmp_path / "run", time_limit=0)
    monkeypatch.delattr("elmo.pretrain.finetuning.store_perplexity")
    with pytest.raises(ResumeError, match="training: holds a run already"):
        tune(read_model(general), domain, tmp_path / "run")


def test_words_that_both_vocabularies_have_keep_their_vectors(general):
    model = read_model(general)
    vocabulary = Vocabulary(("<S>", "</S>", "<UNK>", "gene", model.vocabulary.words[5], "binds"))
    head = new_softmax(model, vocabulary, seed=1)
    assert head.weight[4].tolist() == model.softmax.weight[5].tolist()
    assert head.weight[2].tolist() == model.softmax.weight[2].tolist()
    assert head.bias[[3, 4]].tolist() == [model.softmax.bias.min().item(), model.softmax.bias[5].item()]
    assert head.bias[4].item() == model.softmax.bias[5].item()
    assert head.weight[3].abs().sum() > 0


def test_an_interrupted_fine_tuning_goes_on(general, domain, tmp_path):
    model = read_model(general)
    statuses = [tune(model, domain, tmp_path / "cut", time_limit=0).status]
    model = read_model(general)
    result = tune(model, domain, tmp_path / "cut", resume=True)
    statuses.append(result.status)
    straight = tune(read_model(general), domain, tmp_path / "straight")
    assert statuses == ["time limit", "finished"]
    assert read_model(result.model).sha256 == read_model(straight.model).sha256


def test_a_fine_tuning_goes_on_only_with_its_own_model_and_words(general, domain, make_store, tmp_path):
    bare, once = dataclasses.replace(read_model(general), softmax=None), SOFTMAX.replace(steps=1)
    stopped = tune(bare, domain, tmp_path / "run", softmax_config=once, config=TUNE.replace(steps=1))
    assert stopped.done
    # As many words as `domain` has.
    words = [["the", "gene", f"q{n % 5}", "binds", "two", "proteins", "."] for n in range(150)]
    with pytest.raises(ResumeError, match=r"softmax/model: has no softmax over the words of .*other"):
        tune(bare, make_store(tmp_path / "other", words, words[:30]), tmp_path / "run", resume=True)
    with torch.no_grad():
        next(bare.bilm.parameters()).add_(1)
    with pytest.raises(ResumeError, match="softmax/model: was made for another model"):
        tune(dataclasses.replace(bare), domain, tmp_path / "run", resume=True)


def test_the_tokenizer_of_raw_text_is_taken_over(general, domain, tmp_path):
    model = dataclasses.replace(read_model(general), tokenizer=Tokenizer(rule="unicode", language="de"))
    result = tune(model, domain, tmp_path / "run", config=TUNE.replace(steps=1))
    assert read_model(result.model).tokenizer.rule == "unicode"  # the store's text came as tokens


def test_a_corpus_without_held_out_text_is_refused(general, make_store, make_sentences, tmp_path):
    store = make_store(tmp_path / "store", make_sentences(20), [])
    with pytest.raises(ConfigError, match="overfitting"):
        tune(read_model(general), store, tmp_path / "run")


def test_an_adaptive_softmax_is_refused(general, domain, tmp_path):
    with pytest.raises(ConfigError, match="adaptive"):
        tune(read_model(general), domain, tmp_path / "run", config=TUNE.replace(loss=AdaptiveConfig()))


def test_early_stopping_is_part_of_the_recipe():
    assert TrainConfig.recipe("finetune").patience is not None


def test_a_softmax_alone_is_built_from_text_and_written_as_a_file(general, domain, tmp_path, caplog):
    bare = dataclasses.replace(read_model(general), softmax=None, vocabulary=None)
    weights = bare.sha256
    result = train_softmax(bare, domain, tmp_path / "run", config=SOFTMAX, device="cpu", tensorboard=False)
    assert result.file == tmp_path / "run" / "softmax.safetensors"
    given = dataclasses.replace(read_model(general), softmax=None, vocabulary=None)
    again = add_softmax(given, result.file)
    assert again.sha256 == weights
    assert "another biLM" not in caplog.text
    measured = store_perplexity(again, CorpusStore.open(domain), state="carry", device="cpu")
    assert measured.average == pytest.approx(result.perplexity.average, rel=0.02)
    assert measured.average < 0.7 * len(again.vocabulary)


def test_a_softmax_that_is_there_is_trained_on(general, domain, tmp_path):
    bare = dataclasses.replace(read_model(general), softmax=None, vocabulary=None)
    first = train_softmax(bare, domain, tmp_path / "first", config=SOFTMAX, device="cpu", tensorboard=False)
    given = add_softmax(bare, first.file)
    little = SOFTMAX.replace(steps=2)
    on = train_softmax(given, domain, tmp_path / "on", config=little, device="cpu", tensorboard=False)
    anew = train_softmax(bare, domain, tmp_path / "anew", config=little, device="cpu", tensorboard=False)
    assert on.perplexity.average < 1.05 * first.perplexity.average < anew.perplexity.average
    changed = add_softmax(bare, on.file).softmax.weight
    assert not torch.equal(changed, given.softmax.weight)

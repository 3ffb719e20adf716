"""Scores: the numbers of perplexity word by word, and substitutes that a language model would choose."""

import dataclasses
import math

import pytest
import torch

from elmo.errors import InputError, WeightsError
from elmo.lm.head import FullConfig
from elmo.lm.languagemodel import language_model
from elmo.lm.perplexity import text_perplexity
from elmo.lm.score import combine, score_sentences, substitutes
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.pretraining import pretrain
from elmo.pretrain.step.optimizers import AdamConfig
from elmo.weights.formats import read_model


@pytest.fixture(scope="module")
def trained(make_store, make_sentences, tmp_path_factory):
    """A model that has learnt the toy grammar a little."""
    config = TrainConfig(
        size="tiny", batch_size=8, window=10, steps=150, evaluate_every=150, dropout=0.0, loss=FullConfig(),
        optimizer=AdamConfig(learning_rate=0.01),
    )  # fmt: skip
    run = tmp_path_factory.mktemp("run")
    store = make_store(run / "store", make_sentences(200), make_sentences(20, seed=1))
    return read_model(pretrain(store, config, run / "run", device="cpu", tensorboard=False).model)


SENTENCES = [
    ["the", "old", "sailor", "sees", "nothing", "."],
    ["a", "zebra", "paints", "two", "loaves", "at", "noon", "."],
    [],
    ["my", "neighbour", "forgets", "the", "long", "letter", "."],
]


def test_scores_add_up_to_the_perplexity(trained):
    for state in ("settled", "zero"):
        scores = [score for sentence in score_sentences(trained, SENTENCES, state=state) for score in sentence]
        found = text_perplexity(trained, SENTENCES, state=state)
        assert found.symbols == len(scores)
        assert found.forward == pytest.approx(math.exp(-sum(s.forward for s in scores) / len(scores)), rel=1e-5)
        assert found.backward == pytest.approx(math.exp(-sum(s.backward for s in scores) / len(scores)), rel=1e-5)


def test_each_token_has_its_score_in_its_place(trained):
    scores = score_sentences(trained, SENTENCES)
    assert [[s.token for s in sentence] for sentence in scores] == [[*sentence, "</S>"] for sentence in SENTENCES]
    assert [s.token for s in scores[1] if not s.known] == ["zebra"]
    # The grammar has one way on after "long" and one way back before "sailor"; the other way there are several.
    letter, old = scores[3][5], scores[0][1]
    assert letter.forward > math.log(0.5)
    assert old.backward > math.log(0.5)
    assert letter.surprisal == pytest.approx(-(letter.forward + letter.backward) / 2 / math.log(2))


def test_a_sentence_scores_the_same_alone_and_among_others(trained):
    alone = score_sentences(trained, SENTENCES[3:])[0]
    among = score_sentences(trained, SENTENCES)[3]
    for one, other in zip(alone, among, strict=True):
        assert one.forward == pytest.approx(other.forward, abs=1e-5)
        assert one.backward == pytest.approx(other.backward, abs=1e-5)


def test_the_best_substitutes_are_those_of_the_grammar(trained):
    found = substitutes(trained, ["the", "old", "sailor", "anything", "nothing", "."], 3, count=4)
    assert {s.word for s in found} == {"sees", "paints", "forgets", "carries"}
    assert sum(s.score for s in found) > 0.8
    assert [s.score for s in found] == sorted((s.score for s in found), reverse=True)


def test_the_word_itself_is_not_looked_at(trained):
    one = substitutes(trained, ["my", "neighbour", "sees", "nothing", "."], 2)
    other = substitutes(trained, ["my", "neighbour", "zebra", "nothing", "."], 2)
    assert one == other


def test_a_position_outside_the_sentence_is_refused(trained):
    with pytest.raises(InputError, match="0 to 1"):
        substitutes(trained, ["two", "loaves"], 2)


def test_carried_scores_are_refused(trained):
    with pytest.raises(InputError, match="carry"):
        score_sentences(trained, SENTENCES, state="carry")


def test_raw_text_in_place_of_tokens_is_refused(trained):
    with pytest.raises(InputError, match="list of tokens"):
        score_sentences(trained, ["the old sailor"])


def test_combining_directions_is_a_distribution_without_specials():
    generator = torch.Generator().manual_seed(0)
    each = [torch.log_softmax(torch.randn(9, generator=generator), 0) for _ in range(2)]
    combined = combine(each)
    assert float(combined.exp().sum()) == pytest.approx(1.0)
    assert combined[:3].exp().tolist() == [0.0, 0.0, 0.0]
    alone = combine(each[:1])
    torch.testing.assert_close(alone[3:], torch.log_softmax(each[0][3:].double(), 0))


def test_a_model_without_softmax_says_what_to_do(trained):
    bare = dataclasses.replace(trained, softmax=None, source=None)
    with pytest.raises(WeightsError, match="elmo finetune"):
        language_model(bare)

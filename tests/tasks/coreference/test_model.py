"""The model of coreference: antecedents in blocks, windows of sentences, what is right, chains from links."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.tasks.conftest import SAMPLES_OF_TASKS, small_recipe
from tests.tolerances import assert_near

from elmo.tasks.coreference import antecedents as antecedents_module
from elmo.tasks.coreference.antecedents import DISTANCES, Antecedents, AntecedentScorer
from elmo.tasks.coreference.model import _Part
from elmo.tasks.coreference.spans import KeptSpans
from elmo.tasks.embedding.wordlist import WordList
from elmo.tasks.examples import Example
from elmo.tasks.training.dataset import Dataset
from elmo.tasks.training.trained import TrainedTask, build_model
from elmo.text.tokenizer import Tokenizer

pytest.importorskip("scipy", reason="the extra `tasks` is not installed")
SAMPLE = SAMPLES_OF_TASKS["coreference"]


def make(seed: int = 0, **changes: Any) -> tuple[TrainedTask, list[Example]]:
    """A model of random weights, and the sample."""
    torch.manual_seed(seed)
    recipe = small_recipe(SAMPLE, embedding__elmo__where="none", **changes)
    task = recipe.make_task()
    examples = task.read(str(SAMPLE.train))
    word_list = WordList.collect((e.tokens for e in examples), None, most=0)
    model = build_model(task, recipe.embedding, [], word_list=word_list, word_dim=12, model=None).eval()
    for weights in model.parameters():
        torch.nn.init.normal_(weights, std=0.5)
    return TrainedTask(name="coreference", recipe=recipe, task=task, labels=[], model=model), examples


def random_kept(K: int, dim: int) -> KeptSpans:
    generator = torch.Generator().manual_seed(K)
    vectors = torch.randn(K, dim, generator=generator, dtype=torch.float64, requires_grad=True)
    scores = torch.randn(K, generator=generator, dtype=torch.float64, requires_grad=True)
    return KeptSpans(torch.arange(K), torch.arange(K), vectors, scores)


@pytest.mark.parametrize(("K", "most"), [(1, 4), (3, 4), (13, 4), (13, 50)])
def test_pairs_in_blocks_have_the_scores_and_gradients_of_pairs_one_by_one(
    K: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    made = AntecedentScorer(5, most=most, units=6, feature=3, dropout=0.0).double()
    speakers = torch.arange(K) % 3
    results = []
    for block in (512, 4):
        monkeypatch.setattr(antecedents_module, "BLOCK", block)
        kept = random_kept(K, 5)
        found = made(kept, speakers)
        found.scores.clamp(min=-100).sum().backward()
        assert kept.vectors.grad is not None
        assert kept.scores.grad is not None
        results.append((found, kept.vectors.grad, kept.scores.grad, kept))
    (found, on_vectors, on_scores, kept), (blocks, on_vectors_too, on_scores_too, _) = results
    assert_near(on_vectors_too, on_vectors, dtype=torch.float64, name="gradient of vectors")
    if K > 1:
        assert_near(on_scores_too, on_scores, dtype=torch.float64, name="gradient of scores")
    kept = KeptSpans(kept.starts, kept.ends, kept.vectors.detach(), kept.scores.detach())
    asked = made.bilinear(kept.vectors).detach()
    for n in range(K):
        coarse = {m: float(asked[n] @ kept.vectors[m] + kept.scores[m]) for m in range(n)}
        best = sorted(coarse, key=lambda m: -coarse[m])[:most]
        for one in (found, blocks):
            pairs = dict(zip(one.spans[n].tolist(), one.scores[n, 1:].tolist(), strict=True))
            assert {m for m in pairs if pairs[m] > -1e9} == set(best)
            for m in best:
                assert pairs[m] == pytest.approx(pair_score(made, kept, speakers.tolist(), n, m), rel=1e-9)
            assert float(one.scores[n, 0].detach()) == 0.0


def pair_score(made: AntecedentScorer, kept: KeptSpans, speakers: list[int], n: int, m: int) -> float:
    """The score of one pair as the paper writes it."""
    g, h = kept.vectors[n], kept.vectors[m]
    bucket = sum(n - m >= edge for edge in DISTANCES)
    same = 0 if not (speakers[n] and speakers[m]) else 1 if speakers[n] == speakers[m] else 2
    features = torch.cat([made.speakers.weight[same], made.distances.weight[bucket]])
    hidden = made.span(g) + made.antecedent(h) + made.product(g * h) + made.features(features)
    fine = made.score(torch.relu(made.second(torch.relu(hidden))))[0]
    return float((fine + made.bilinear(g) @ h + kept.scores[n] + kept.scores[m]).detach())


def test_the_loss_is_the_share_of_the_right_antecedents_and_of_none() -> None:
    trained, _ = make()
    model: Any = trained.model
    kept = KeptSpans(torch.arange(3), torch.arange(3), torch.zeros(3, 1), torch.tensor([0.5, -1.0, 2.0]))
    lowest = torch.finfo(torch.float32).min
    scores = torch.tensor([[0.0, lowest, lowest], [0.0, 1.0, lowest], [0.0, 2.0, -1.0]])
    antecedents = Antecedents(torch.tensor([[0, 1], [0, 1], [0, 1]]), scores)
    with torch.no_grad():
        found = float(model._loss(kept, antecedents, torch.tensor([4, 0, 4])))
    links = 0 + math.log(1 + math.e) + (math.log(1 + math.exp(2) + math.exp(-1)) - 2)
    mentions = math.log(1 + math.exp(-0.5)) + math.log(1 + math.exp(-1.0)) + math.log(1 + math.exp(-2.0))
    assert found == pytest.approx(links + mentions, rel=1e-5)


def test_answers_of_a_document_do_not_depend_on_those_beside_it_and_its_chains_do_not_share_mentions() -> None:
    trained, examples = make(3)
    together = trained.predict(examples)
    assert together == [trained.predict([example])[0] for example in examples]
    assert any(together)
    for example, chains in zip(examples, together, strict=True):
        mentions = [mention for chain in chains for mention in chain]
        assert len(mentions) == len(set(mentions))
        assert all(0 <= start < end <= len(example.tokens) for start, end in mentions)
        assert all(len(chain) > 1 for chain in chains)
        assert list(chains) == sorted(chains)


def test_chains_of_one_are_answered_where_they_are_learned() -> None:
    trained, examples = make(3, task__singletons=True)
    assert any(len(chain) == 1 for chains in trained.predict(examples) for chain in chains)


def test_training_reads_so_many_sentences_of_a_longer_document_and_others_each_time() -> None:
    trained, examples = make(0, task__model__sentences=1)
    model: Any = trained.model
    torch.manual_seed(0)
    parts = {(part.first, *part.lengths) for part in (model._window(0, [4, 7, 5]) for _ in range(30))}
    assert parts == {(0, 4), (4, 7), (11, 5)}
    assert model._window(0, [4]) == _Part(0, 0, [4])
    table = model._chains(torch.tensor([0, 0, 1, 4, 5, 2, 10, 10, 1, 3, 4, 2, 0, 0, 0]), _Part(0, 4, [7]))
    assert [(w, s, int(table[w, s])) for w, s in table.nonzero().tolist()] == [(0, 6, 1), (1, 0, 2)]
    data = Dataset(trained.task, examples, trained.embedding, labels=[])
    loss = model.train().loss(data.batch(np.arange(4)))
    loss.backward()
    assert bool(loss.isfinite())


def test_a_raw_text_is_one_document_with_places_in_it(tmp_path: Path) -> None:
    trained, _ = make(3)
    text = "Maria lost her key. She didn’t find it.\n\n\nTom found the key.\n"
    (tmp_path / "raw.txt").write_text(text, encoding="utf-8")
    questions = trained.task.read_questions(str(tmp_path / "raw.txt"), Tokenizer())
    assert len(questions) == 1
    assert [len(s) for s in questions[0].texts[0].sentences] == [5, 6, 5]
    (found,) = trained.report(questions)
    assert found["text"] == text.removesuffix("\n")
    mentions = [mention for chain in found["chains"] for mention in chain]
    assert mentions
    for part in [*found["tokens"], *mentions]:
        assert found["text"][part["start"] : part["end"]] == part["text"]
    assert all(chain[0]["probability"] is None for chain in found["chains"])
    assert all(0 < mention["probability"] <= 1 for chain in found["chains"] for mention in chain[1:])
    lines = list(trained.task.write(questions, trained.predict(questions)))
    told = [[" ".join(mention["text"].split()) for mention in chain] for chain in found["chains"]]
    assert lines == ["\t".join(chain) for chain in told]


def test_a_text_without_words_has_no_chains(tmp_path: Path) -> None:
    trained, _ = make(0)
    (tmp_path / "raw.txt").write_text("\n \n", encoding="utf-8")
    questions = trained.task.read_questions(str(tmp_path / "raw.txt"), Tokenizer())
    assert trained.predict(questions) == [None]
    assert trained.report(questions)[0]["chains"] == []
    assert list(trained.task.write(questions, [None])) == []


def test_a_document_of_one_word_is_answered(tmp_path: Path) -> None:
    trained, _ = make(0)
    (tmp_path / "raw.txt").write_text("Yes", encoding="utf-8")
    questions = trained.task.read_questions(str(tmp_path / "raw.txt"), Tokenizer())
    assert trained.predict(questions) == [()]

"""ESIM: padding does not matter, both texts share all parts, and ELMo for the output takes part in the alignment."""

from dataclasses import replace

import pytest
import torch
from tests.tasks.conftest import SAMPLES_OF_TASKS, small_recipe
from torch.nn import functional as F

from elmo.tasks.embedding.wordlist import WordList
from elmo.tasks.entailment.model import Esim
from elmo.tasks.examples import Example
from elmo.tasks.training.dataset import Dataset
from elmo.tasks.training.trained import build_model
from elmo.weights.loaded import LoadedModel

SAMPLE = SAMPLES_OF_TASKS["entailment"]
LABELS = ["contradiction", "entailment", "neutral"]


def make(model: LoadedModel, *, where: str = "both") -> tuple[Esim, list[Example]]:
    recipe = small_recipe(SAMPLE, embedding__elmo__where=where)
    task = recipe.make_task()
    examples = task.read(str(SAMPLE.train))
    word_list = WordList.collect((text.tokens for e in examples for text in e.texts), None, most=0)
    torch.manual_seed(0)
    network = build_model(task, recipe.embedding, LABELS, word_list=word_list, word_dim=12, model=model).eval()
    assert isinstance(network, Esim)
    return network, examples


@torch.no_grad()
def scores(network: Esim, examples: list[Example]) -> torch.Tensor:
    data = Dataset(small_recipe(SAMPLE).make_task(), examples, network.embedding)
    return network.scores(data.batch(torch.arange(len(examples)).numpy()))


def test_padding_changes_no_score(model: LoadedModel) -> None:
    network, examples = make(model)
    alone = torch.cat([scores(network, [example]) for example in examples])
    torch.testing.assert_close(scores(network, examples), alone, rtol=0, atol=1e-5)


@torch.no_grad()
def test_the_scores_are_those_of_the_paper_written_out(model: LoadedModel) -> None:
    network, examples = make(model)
    example = examples[3]
    found = scores(network, [example])[0]
    data = Dataset(small_recipe(SAMPLE).make_task(), [example], network.embedding)
    batch = data.batch(torch.arange(1).numpy())
    sides = [network.embedding(text) for text in batch.texts]
    encoded = []
    for side in sides:
        assert side.output is not None
        encoded.append(torch.cat([network.encoder.layers[0](side.input)[0], side.output], dim=2)[0])  # [T, D]
    pooled = []
    for own, other in (encoded, encoded[::-1]):
        rows = []
        for token in own:
            shares = torch.softmax(torch.stack([token @ o for o in other]), 0)
            aligned = sum(share * o for share, o in zip(shares, other, strict=True))
            assert isinstance(aligned, torch.Tensor)
            rows.append(F.relu(network.compare(torch.cat([token, aligned, token - aligned, token * aligned]))))
        composed = network.composer.layers[0](torch.stack(rows)[None])[0][0]
        pooled += [composed.mean(0), composed.amax(0)]
    torch.testing.assert_close(found, network.classify(torch.cat(pooled)), rtol=0, atol=1e-5)


@pytest.mark.parametrize("where", ["none", "input", "output", "both"])
def test_there_is_one_mix_a_place_for_both_texts(where: str, model: LoadedModel) -> None:
    network, examples = make(model if where != "none" else None, where=where)  # type: ignore[arg-type]
    assert list(network.embedding.mix_weights()) == {"none": [], "both": ["input", "output"]}.get(where, [where])
    swapped = [replace(e, texts=e.texts[::-1]) for e in examples]
    assert not torch.equal(scores(network, examples), scores(network, swapped))

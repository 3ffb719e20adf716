"""BiDAF with self attention: padding does not matter, and the scores are those of the paper's equations."""

import pytest
import torch
from tests.tasks.conftest import SAMPLES_OF_TASKS, small_recipe
from torch import Tensor
from torch.nn import functional as F

from elmo.tasks.embedding.wordlist import WordList
from elmo.tasks.examples import Example
from elmo.tasks.networks.attention import TrilinearSimilarity
from elmo.tasks.networks.encoder import Encoder
from elmo.tasks.questions.model import Bidaf
from elmo.tasks.task import Batch
from elmo.tasks.training.dataset import Dataset
from elmo.tasks.training.trained import build_model
from elmo.weights.loaded import LoadedModel

SAMPLE = SAMPLES_OF_TASKS["questions"]


def make(model: LoadedModel | None, *, where: str = "both") -> tuple[Bidaf, list[Example]]:
    recipe = small_recipe(SAMPLE, embedding__elmo__where=where)
    task = recipe.make_task()
    examples = task.read(str(SAMPLE.train))
    word_list = WordList.collect((text.tokens for e in examples for text in e.texts), None, most=0)
    torch.manual_seed(0)
    network = build_model(task, recipe.embedding, [], word_list=word_list, word_dim=12, model=model).eval()
    assert isinstance(network, Bidaf)
    return network, examples


def batch_of(network: Bidaf, examples: list[Example]) -> Batch:
    data = Dataset(small_recipe(SAMPLE).make_task(), examples, network.embedding, labels=[])
    return data.batch(torch.arange(len(examples)).numpy())


@torch.no_grad()
def test_padding_changes_no_score(model: LoadedModel) -> None:
    network, examples = make(model)
    starts, ends = network.scores(batch_of(network, examples))
    for n, example in enumerate(examples):
        T = len(example.tokens)
        alone = network.scores(batch_of(network, [example]))
        torch.testing.assert_close(starts[n, :T], alone[0][0], rtol=0, atol=1e-5)
        torch.testing.assert_close(ends[n, :T], alone[1][0], rtol=0, atol=1e-5)
        assert (starts[n, T:] == torch.finfo(torch.float32).min).all()


@torch.no_grad()
def test_the_scores_are_those_of_the_paper_written_out(model: LoadedModel) -> None:
    network, examples = make(model)
    network.nothing.fill_(0.5)
    batch = batch_of(network, examples[1:2])
    starts, ends = network.scores(batch)

    def read(encoder: Encoder, x: Tensor) -> Tensor:
        return encoder.layers[0](x[None])[0][0]

    def like(similarity: TrilinearSimilarity, x: Tensor, y: Tensor) -> Tensor:
        return similarity(x[None, None], y[None, None])[0, 0, 0]

    sides = []
    for text in batch.texts:
        embedded = network.embedding(text)
        assert embedded.output is not None
        sides.append(torch.cat([read(network.encoder, embedded.input[0]), embedded.output[0]], dim=1))
    x, y = sides
    table = torch.stack([torch.stack([like(network.similarity, a, b) for b in y]) for a in x])  # [T, S]
    of_context = torch.softmax(table.amax(1), 0) @ x
    rows = []
    for a, scores in zip(x, table, strict=True):
        of_question = torch.softmax(scores, 0) @ y
        rows.append(F.relu(network.merge(torch.cat([a, of_question, a * of_question, a * of_context]))))
    joined = torch.stack(rows)
    again = read(network.reader, joined)
    rows = []
    for n, a in enumerate(again):
        others = [b for m, b in enumerate(again) if m != n]
        scores = torch.stack([like(network.self_similarity, a, b) for b in others])
        shares = scores.exp() / (scores.exp().sum() + network.nothing.exp())
        attended = shares @ torch.stack(others)
        rows.append(F.relu(network.self_merge(torch.cat([attended, a, attended * a]))))
    x = joined + torch.stack(rows)
    before = read(network.start_reader, x)
    behind = read(network.end_reader, torch.cat([x, before], dim=1))
    torch.testing.assert_close(starts[0], network.start(before)[:, 0], rtol=0, atol=1e-5)
    torch.testing.assert_close(ends[0], network.end(behind)[:, 0], rtol=0, atol=1e-5)
    expected = F.cross_entropy(starts, batch.targets[:, 0]) + F.cross_entropy(ends, batch.targets[:, 1])
    torch.testing.assert_close(network.loss(batch), expected)


@pytest.mark.parametrize("where", ["none", "input", "output", "both"])
def test_there_is_one_mix_a_place_for_both_texts(where: str, model: LoadedModel) -> None:
    network, _ = make(None if where == "none" else model, where=where)
    assert list(network.embedding.mix_weights()) == {"none": [], "both": ["input", "output"]}.get(where, [where])

"""The biattentive network: padding does not matter, and its parts are what the paper says."""

import torch
from tests.tasks.conftest import SAMPLES_OF_TASKS, small_recipe

from elmo.tasks.classification.model import BiattentiveClassifier, Maxout
from elmo.tasks.embedding.wordlist import WordList
from elmo.tasks.training.dataset import Dataset
from elmo.tasks.training.trained import build_model
from elmo.weights.loaded import LoadedModel

SAMPLE = SAMPLES_OF_TASKS["classification"]


def test_padding_changes_no_score(model: LoadedModel) -> None:
    recipe = small_recipe(SAMPLE, embedding__elmo__where="both")
    task = recipe.make_task()
    examples = task.read(str(SAMPLE.train))
    word_list = WordList.collect((e.tokens for e in examples), None, most=0)
    network = build_model(task, recipe.embedding, list("01234"), word_list=word_list, word_dim=12, model=model).eval()
    assert isinstance(network, BiattentiveClassifier)
    data = Dataset(task, examples, network.embedding)
    rows = torch.arange(len(examples)).numpy()
    with torch.no_grad():
        together = network.scores(data.batch(rows))
        alone = torch.cat([network.scores(data.batch(rows[n : n + 1])) for n in range(len(rows))])
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-5)


def test_maxout_is_the_largest_of_its_pieces() -> None:
    torch.manual_seed(0)
    layer = Maxout(3, 2, pool=4)
    x = torch.randn(5, 3)
    pieces = x @ layer.linear.weight.T + layer.linear.bias  # [5, 8]
    expected = torch.stack([pieces[:, :4].amax(1), pieces[:, 4:].amax(1)], dim=1)
    torch.testing.assert_close(layer(x), expected)

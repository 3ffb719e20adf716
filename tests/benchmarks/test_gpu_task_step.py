"""What the benchmark of task steps on a GPU makes up can be learned from; the rest of it needs a GPU."""

import numpy as np
import pytest
import torch
from benchmarks.gpu.task_step import MADE_UP, make_up, without_cudnn

from elmo.tasks.recipes import find_recipe


@pytest.mark.parametrize("name", MADE_UP)
def test_made_up_examples_are_ones_of_the_task(name: str) -> None:
    task = find_recipe(name).make_task()
    examples = make_up(name, 200)
    assert examples == make_up(name, 200)
    assert {len(example.texts) for example in examples} == {task.texts}
    labels = task.find_labels(examples)
    ids = {label: n for n, label in enumerate(labels)}
    assert all(task.encode(example, ids) for example in examples)
    assert 11 < np.mean([len(example.tokens) for example in examples]) < 18
    assert max(len(example.tokens) for example in examples) <= 113


def test_another_lstm_is_put_in_place_for_its_way_alone() -> None:
    before = torch.lstm
    with without_cudnn("recorded, without cuDNN"):
        assert torch.lstm is not before
    with without_cudnn("recorded"):
        assert torch.lstm is before
    assert torch.lstm is before

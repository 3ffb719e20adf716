"""State dicts that AllenNLP saved, of a whole task model with a biLM that had learnt."""

import numpy as np
import pytest
import torch
from tests.compat.golden import DIM, DUMPS, OPTIONS, WEIGHTS, assert_close, read_json
from torch import nn

from elmo.compat.allennlp import ConfigurationError, Elmo, batch_to_ids

FOLDER = DUMPS / "allennlp2_elmo"


class Task(nn.Module):
    def __init__(self, **options) -> None:
        super().__init__()
        self.elmo = Elmo(OPTIONS, WEIGHTS, 2, requires_grad=True, **options)
        self.out = nn.Linear(DIM, 3)


@pytest.fixture
def saved() -> dict[str, torch.Tensor]:
    arrays = np.load(FOLDER / "finetuned.npz")
    return {name.removeprefix("state/"): torch.from_numpy(arrays[name]) for name in arrays if name.startswith("state/")}


def test_a_task_model_saved_by_allennlp_loads_strictly_and_gives_its_numbers(saved):
    task = Task().eval()
    task.load_state_dict(saved, strict=True)
    expected = np.load(FOLDER / "finetuned.npz")
    for i, batch in enumerate(read_json(FOLDER / "sentences.json")):
        for j, found in enumerate(task.elmo(batch_to_ids(batch))["elmo_representations"]):
            assert_close(found.detach(), expected[f"call{i}_rep{j}"])


def test_our_own_state_dicts_load_again(saved):
    task, other = Task().eval(), Task().eval()
    task.load_state_dict(saved)
    other.load_state_dict(task.state_dict(), strict=True)
    ids = batch_to_ids([["one", "more"]])
    assert torch.equal(*(t.elmo(ids)["elmo_representations"][0] for t in (task, other)))


def test_mixes_alone_load_into_a_frozen_bilm(saved):
    mixes = {name: tensor for name, tensor in saved.items() if "scalar_mix" in name}
    task = Task()
    result = task.load_state_dict(mixes, strict=False)
    assert not result.unexpected_keys
    assert task.elmo.get_submodule("scalar_mix_1").gamma.item() == saved["elmo.scalar_mix_1.gamma"].item()


def test_a_missing_weight_is_missed(saved):
    del saved["elmo._elmo_lstm._elmo_lstm.backward_layer_1.state_projection.weight"]
    with pytest.raises(RuntimeError, match=r"Missing key.*lstm.layers.1.weight_projection"):
        Task().load_state_dict(saved)


def test_a_saved_word_cache_asks_for_the_same_vocabulary(saved):
    saved["elmo._elmo_lstm._word_embedding.weight"] = torch.ones(3, DIM // 2)
    with pytest.raises(ConfigurationError, match="same vocab_to_cache"):
        Task().load_state_dict(saved)
    task = Task(vocab_to_cache=["@@PADDING@@", "a", "b"])
    task.load_state_dict(saved)
    assert bool((task.elmo._elmo_lstm._word_embedding.weight == 1).all())

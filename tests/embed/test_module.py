"""`Elmo` in a task model: what learns, what is saved, masks, boundaries, penalties."""

import copy
import dataclasses
import logging
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from elmo.embed.embedder import Embedder
from elmo.embed.module import Elmo
from elmo.errors import ConfigError, ElmoError, InputError
from elmo.text.chars import spell
from elmo.weights.formats import read_model

SENTENCES = [["The", "bank", "is", "open", "."], [], ["Yes", "."]]


def make(model_directory: Path, **options: object) -> Elmo:
    torch.manual_seed(0)
    return Elmo(read_model(str(model_directory)), **options)


def test_a_new_mix_is_the_mean_of_what_encode_gives(model_directory: Path, embedder: Embedder) -> None:
    elmo = make(model_directory).eval()
    (mixed,), mask = elmo(SENTENCES)
    assert mixed.shape == (3, 5, 16)
    assert mask.tolist() == [[True] * 5, [False] * 5, [True, True, False, False, False]]
    for row, expected in zip(mixed, embedder.encode(SENTENCES), strict=True):
        np.testing.assert_allclose(row[: len(expected)].detach(), expected, rtol=0, atol=1e-5)
        assert not row[len(expected) :].any()


def test_character_ids_and_tokens_are_the_same_sentences(model_directory: Path) -> None:
    elmo = make(model_directory).eval()
    ids = torch.zeros(3, 5, 50, dtype=torch.long)
    for n, words in enumerate(SENTENCES):
        ids[n, : len(words)] = torch.from_numpy(spell(words)).long()
    by_ids, by_words = elmo(ids), elmo(SENTENCES)
    torch.testing.assert_close(by_ids.representations, by_words.representations, rtol=0, atol=1e-6)
    assert torch.equal(by_ids.mask, by_words.mask)


def test_several_mixes_come_from_one_run_and_differ_when_their_weights_do(model_directory: Path) -> None:
    elmo = make(model_directory, mixes=2).eval()
    with torch.no_grad():
        elmo.mixes[1].weights.copy_(torch.tensor([5.0, 0.0, -5.0]))
    first, second = elmo(SENTENCES).representations
    assert first.shape == second.shape
    assert not torch.allclose(first, second)


def test_a_module_has_a_bilm_of_its_own(model_directory: Path) -> None:
    model = read_model(model_directory)
    module = Elmo(model, train_bilm=True).double()
    with torch.no_grad():
        next(module.bilm.parameters()).zero_()
    assert {p.dtype for p in model.bilm.parameters()} == {torch.float32}
    assert next(model.bilm.parameters()).any()
    assert module.model.bilm is module.bilm  # so that `save_pretrained` writes what was trained


def test_gradients_reach_the_mix_only(model_directory: Path) -> None:
    elmo = make(model_directory, mixes=2)
    sum(r.square().sum() for r in elmo(SENTENCES).representations).backward()
    assert all(p.grad is None for p in elmo.bilm.parameters())
    for mix in elmo.mixes:
        assert mix.weights.grad.abs().sum() > 0
        assert mix.gamma.grad.abs() > 0


def test_gradients_reach_every_part_of_a_trained_bilm(model_directory: Path) -> None:
    elmo = make(model_directory, train_bilm=True, dropout=0.0)
    elmo(SENTENCES).representations[0].square().sum().backward()
    for name, parameter in elmo.bilm.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


def test_a_trained_bilm_gives_the_same_vectors_as_a_frozen_one(model_directory: Path) -> None:
    frozen, trained = make(model_directory).eval(), make(model_directory, train_bilm=True).eval()
    torch.testing.assert_close(frozen(SENTENCES).representations, trained(SENTENCES).representations, rtol=0, atol=1e-6)


def test_a_trained_bilm_does_not_remember_old_words(model_directory: Path) -> None:
    elmo = make(model_directory, train_bilm=True).eval()
    before = elmo(SENTENCES).representations[0]
    with torch.no_grad():
        elmo.bilm.tokens.characters.add_(0.5)
    assert not torch.allclose(before, elmo(SENTENCES).representations[0])


def test_boundaries_stay_on_request(model_directory: Path) -> None:
    without = make(model_directory).eval()(SENTENCES)
    elmo = make(model_directory, keep_boundaries=True).eval()
    kept = elmo(SENTENCES)
    assert kept.representations[0].shape == (3, 7, 16)
    assert kept.mask.sum(1).tolist() == [7, 2, 4]
    torch.testing.assert_close(kept.representations[0][0, 1:6], without.representations[0][0], rtol=0, atol=1e-6)
    assert kept.representations[0][0, 0].abs().sum() > 0


def test_dropout_acts_in_training_only(model_directory: Path) -> None:
    elmo = make(model_directory, dropout=0.5)
    dropped = elmo(SENTENCES).representations[0][0]
    share = (dropped == 0).double().mean().item()
    assert 0.2 < share < 0.8
    elmo.eval()
    assert torch.equal(elmo(SENTENCES).representations[0], elmo(SENTENCES).representations[0])
    assert (elmo(SENTENCES).representations[0][0] != 0).all()


def test_penalty_is_lambda_times_the_squared_weights_of_all_mixes(model_directory: Path) -> None:
    elmo = make(model_directory, mixes=2, mix_l2=0.001)
    with torch.no_grad():
        elmo.mixes[0].weights.copy_(torch.tensor([1.0, 2.0, 0.0]))
        elmo.mixes[1].weights.copy_(torch.tensor([0.0, 0.0, 3.0]))
    assert elmo.mix_penalty().item() == pytest.approx(0.001 * (1 + 4 + 9))
    elmo.mix_penalty().backward()
    assert elmo.mixes[1].weights.grad.tolist() == pytest.approx([0, 0, 0.006])


@pytest.mark.parametrize("layer_norm", ["batch", "token"])
def test_layer_norm_changes_the_mix_and_keeps_padding_zero(model_directory: Path, layer_norm: str) -> None:
    plain, normed = make(model_directory).eval(), make(model_directory, layer_norm=layer_norm).eval()
    a, b = plain(SENTENCES).representations[0], normed(SENTENCES).representations[0]
    assert not torch.allclose(a[0], b[0])
    assert not b[2, 2:].any()


def test_a_state_dict_without_the_frozen_bilm_loads_again(model_directory: Path) -> None:
    class Tagger(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.elmo = make(model_directory, save_bilm=False)
            self.out = nn.Linear(16, 3)

    tagger, other = Tagger(), Tagger()
    with torch.no_grad():
        tagger.elmo.mixes[0].weights.fill_(0.5)
    state = tagger.state_dict()
    assert sorted(state) == ["elmo.mixes.0.gamma", "elmo.mixes.0.weights", "out.bias", "out.weight"]
    other.load_state_dict(state)
    assert other.elmo.mixes[0].weights.tolist() == [0.5] * 3
    torch.testing.assert_close(other.elmo.bilm.state_dict(), tagger.elmo.bilm.state_dict())


def test_a_full_state_dict_has_the_bilm(model_directory: Path) -> None:
    assert "bilm.lstm.layers.0.weight_x" in make(model_directory).state_dict()


def test_loading_other_weights_forgets_remembered_words(model_directory: Path) -> None:
    elmo = make(model_directory).eval()
    before = elmo(SENTENCES).representations[0]
    state = {name: tensor.clone() for name, tensor in elmo.state_dict().items()}
    state["bilm.tokens.characters"] += 0.5
    elmo.load_state_dict(state)
    assert not torch.allclose(before, elmo(SENTENCES).representations[0])


def test_saved_mixes_come_back(model_directory: Path, tmp_path: Path) -> None:
    elmo = make(model_directory, mixes=2, layer_norm="token", mix_l2=0.5).eval()
    with torch.no_grad():
        elmo.mixes[1].weights.copy_(torch.tensor([1.0, 2.0, 3.0]))
    elmo.save_pretrained(tmp_path / "saved")
    again = Elmo.from_pretrained(tmp_path / "saved").eval()
    assert again.options == elmo.options
    torch.testing.assert_close(again(SENTENCES).representations, elmo(SENTENCES).representations)
    with pytest.raises(ConfigError, match="do not fit"):
        Elmo.from_pretrained(tmp_path / "saved", mixes=1)


def test_settled_and_zero_start_differ(model_directory: Path) -> None:
    settled, zero = make(model_directory).eval(), make(model_directory, state="zero").eval()
    assert not torch.allclose(settled(SENTENCES).representations[0], zero(SENTENCES).representations[0], atol=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mixes": 0}, "mixes is 0"),
        ({"state": "carry"}, "state is 'carry'"),
        ({"train_bilm": True, "save_bilm": False}, "would lose the biLM"),
    ],
)
def test_impossible_options_are_refused(model_directory: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make(model_directory, **options)


def test_a_name_in_the_place_of_a_model_is_refused_with_what_takes_names() -> None:
    with pytest.raises(InputError, match=r"model is 'english' \(str\), .*Elmo.from_pretrained takes a name or a path"):
        Elmo("english")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ("a b", "sentences are"),
        (["The bank."], "sentence 0 is .*; a list of tokens is wanted"),
        ([["a"], [1]], "token 0 of sentence 1 is"),
    ],
)
def test_raw_text_is_not_taken_letter_by_letter(model_directory: Path, sentences: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(model_directory)(sentences)


def test_impossible_character_ids_are_refused(model_directory: Path) -> None:
    elmo = make(model_directory)
    with pytest.raises(InputError, match=r"shape \[5, 50\]"):
        elmo(torch.ones(5, 50, dtype=torch.long))
    gap = torch.ones(1, 3, 50, dtype=torch.long)
    gap[0, 1] = 0
    with pytest.raises(InputError, match="behind a row of zeros"):
        elmo(gap)


def test_no_sentences_give_empty_tensors(model_directory: Path) -> None:
    output = make(model_directory).eval()([])
    assert output.representations[0].shape == (0, 0, 16)
    assert output.mask.shape == (0, 0)


def test_words_met_in_inference_mode_are_known_outside_of_it(model_directory: Path) -> None:
    elmo = make(model_directory).eval()
    with torch.inference_mode():
        elmo([["one", "two"]])
    first = elmo([["two", "three"]]).representations[0]
    torch.testing.assert_close(first, make(model_directory).eval()([["two", "three"]]).representations[0])
    first.sum().backward()


def test_the_top_layer_alone_is_what_encode_calls_top(model_directory: Path, embedder: Embedder) -> None:
    elmo = make(model_directory, mixed_layers="top").eval()
    (mixed,), _ = elmo(SENTENCES)
    for row, expected in zip(mixed, embedder.encode(SENTENCES, layers="top"), strict=True):
        np.testing.assert_allclose(row[: len(expected)].detach(), expected, rtol=0, atol=1e-5)
    assert elmo.mixes[0].weights.shape == (1,)


def test_an_unknown_choice_of_mixed_layers_is_named(model_directory: Path) -> None:
    with pytest.raises(ConfigError, match="mixed_layers is 'bottom'"):
        make(model_directory, mixed_layers="bottom")


def test_a_used_module_is_copied_pickled_and_moved_to_another_type(model_directory: Path) -> None:
    elmo = make(model_directory).eval()
    (expected,) = elmo(SENTENCES).representations
    for again in (copy.deepcopy(elmo), pickle.loads(pickle.dumps(elmo))):
        assert torch.equal(again(SENTENCES).representations[0], expected)
    exact = elmo.double()(SENTENCES).representations[0]
    assert exact.dtype == torch.float64
    torch.testing.assert_close(exact.float(), expected, rtol=0, atol=1e-5)


def test_an_unfrozen_bilm_learns(model_directory: Path) -> None:
    """As every PyTorch user unfreezes: by its parameters, after the module was made and used."""
    model = read_model(model_directory)
    elmo, other = Elmo(model, dropout=0.0), Elmo(model).eval()
    (before,) = elmo(SENTENCES).representations
    weights = {name: p.clone() for name, p in model.bilm.named_parameters()}
    elmo.bilm.requires_grad_(True)
    assert elmo.train_bilm
    optimizer = torch.optim.SGD(elmo.parameters(), lr=0.1)
    (found,) = elmo(SENTENCES).representations
    torch.testing.assert_close(found, before, rtol=0, atol=1e-5)
    found.square().sum().backward()
    assert all(p.grad is not None and bool(p.grad.any()) for p in elmo.bilm.parameters())
    optimizer.step()
    elmo.bilm.requires_grad_(False)
    assert not elmo.train_bilm
    after = elmo.eval()(SENTENCES).representations[0].detach()
    assert not torch.allclose(after, before, atol=1e-4)
    again = Elmo(dataclasses.replace(model, bilm=elmo.bilm)).eval()
    again.mixes.load_state_dict(elmo.mixes.state_dict())
    assert torch.equal(again(SENTENCES).representations[0], after)
    # The model that it came from, and its other users, know nothing of it.
    assert all(torch.equal(p, weights[name]) for name, p in model.bilm.named_parameters())
    torch.testing.assert_close(other(SENTENCES).representations[0], before, rtol=0, atol=1e-5)


@pytest.mark.parametrize("part", ["tokens", "lstm"])
def test_a_part_of_the_bilm_learns_alone(model_directory: Path, part: str) -> None:
    elmo = make(model_directory, dropout=0.0)
    elmo(SENTENCES)
    getattr(elmo.bilm, part).requires_grad_(True)
    elmo(SENTENCES).representations[0].sum().backward()
    learned = {name.split(".")[0] for name, p in elmo.bilm.named_parameters() if p.grad is not None}
    assert learned == {part}


@torch.no_grad()
def test_a_frozen_weight_that_is_written_changes_the_vectors(model_directory: Path) -> None:
    elmo = make(model_directory).eval()
    elmo(SENTENCES)
    for parameter in elmo.bilm.parameters():
        parameter.mul_(0.5)
    fresh = Elmo(elmo.model).eval()
    assert torch.equal(elmo(SENTENCES).representations[0], fresh(SENTENCES).representations[0])


def test_a_bilm_that_learned_after_all_is_in_the_state_dict(model_directory: Path) -> None:
    elmo = make(model_directory, save_bilm=False)
    assert not any("bilm" in name for name in elmo.state_dict())
    elmo.bilm.requires_grad_(True)
    elmo(SENTENCES)
    assert any("bilm" in name for name in elmo.state_dict())


def test_saving_a_second_time_names_the_argument_that_allows_it(model_directory: Path, tmp_path: Path) -> None:
    elmo, path = make(model_directory), tmp_path / "saved"
    elmo.save_pretrained(path)
    with pytest.raises(ElmoError, match=r"\(--overwrite, overwrite=True\)"):
        elmo.save_pretrained(path)
    with torch.no_grad():
        elmo.mixes[0].gamma.fill_(7.0)
    elmo.save_pretrained(path, overwrite=True)
    assert Elmo.from_pretrained(path).mixes[0].gamma.item() == 7.0


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # torch's own; it silences it itself
def test_a_compiled_model_gives_the_same_without_a_warning(
    model_directory: Path, caplog: pytest.LogCaptureFixture
) -> None:
    elmo = make(model_directory).eval()
    model = nn.ModuleDict({"elmo": elmo, "head": nn.Linear(elmo.dim, 2)})

    def forward(sentences: list[list[str]]) -> torch.Tensor:
        return torch.relu(model["head"](model["elmo"](sentences).representations[0]))

    wanted = forward(SENTENCES)
    compiled = torch.compile(forward, backend="eager")
    assert torch.equal(compiled(SENTENCES), wanted)
    compiled(SENTENCES).sum().backward()
    assert elmo.mixes[0].gamma.grad is not None
    assert not [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]

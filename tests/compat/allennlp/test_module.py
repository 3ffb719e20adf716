"""AllenNLP's `Elmo`: recorded numbers, and the behaviour that its own tests ask for."""

import logging

import numpy as np
import pytest
import torch
from tests.compat.golden import DIM, DUMPS, OPTIONS, WEIGHTS, assert_close, read_json

from elmo.compat.allennlp import ConfigurationError, Elmo, ElmoEmbedder, _ElmoBiLm, batch_to_ids

FOLDER = DUMPS / "allennlp2_elmo"
MIX = [0.2, -0.5, 0.9]
SENTENCES = [["The", "kettle", "."], ["Kettles", "help", "to", "tell", "tea", "from", "soup"]]


@pytest.fixture(scope="module")
def golden():
    return np.load(FOLDER / "expected.npz")


@pytest.fixture(scope="module")
def batches():
    return read_json(FOLDER / "sentences.json")


def make(mixes: int = 2, **options) -> Elmo:
    return Elmo(OPTIONS, WEIGHTS, mixes, **options)


def assert_golden(golden, name: str, call: int, output: dict) -> None:
    np.testing.assert_array_equal(output["mask"], golden[f"{name}_call{call}_mask"])
    for j, representation in enumerate(output["elmo_representations"]):
        assert_close(representation.detach(), golden[f"{name}_call{call}_rep{j}"], message=f"{name} {call} {j}")


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("keep", [False, True])
def test_numbers_equal_allennlps_over_two_calls(golden, batches, keep, norm):
    elmo = make(scalar_mix_parameters=MIX, keep_sentence_boundaries=keep, do_layer_norm=norm).eval()
    for i, batch in enumerate(batches):
        assert_golden(golden, f"keep{int(keep)}_ln{int(norm)}", i, elmo(batch_to_ids(batch)))


def test_mixes_of_their_own_give_representations_of_their_own(golden, batches):
    elmo = make().eval()
    state = elmo.state_dict()
    for k, (weights, gamma) in enumerate([([0.1, 0.4, -0.3], 1.5), ([-1.0, 0.0, 2.0], 0.7)]):
        state[f"scalar_mix_{k}.gamma"] = torch.tensor([gamma])
        state |= {f"scalar_mix_{k}.scalar_parameters.{n}": torch.tensor([w]) for n, w in enumerate(weights)}
    elmo.load_state_dict(state)
    for i, batch in enumerate(batches):
        assert_golden(golden, "distinct", i, elmo(batch_to_ids(batch)))


@pytest.mark.parametrize("keep", [False, True])
def test_a_cached_vocabulary_gives_allennlps_numbers(golden, batches, keep):
    words = read_json(FOLDER / "vocab_to_cache.json")
    elmo = make(scalar_mix_parameters=MIX, vocab_to_cache=words, keep_sentence_boundaries=keep).eval()
    for i, batch in enumerate(batches):
        output = elmo(batch_to_ids(batch), torch.from_numpy(golden[f"words_call{i}"]))
        assert_golden(golden, f"cached_keep{int(keep)}", i, output)


def test_an_id_outside_the_cache_gives_allennlps_numbers(golden, batches):
    words = read_json(FOLDER / "vocab_to_cache.json")
    elmo = make(scalar_mix_parameters=MIX, vocab_to_cache=words).eval()
    for i, batch in enumerate(batches):
        ids = torch.from_numpy(golden[f"words_call{i}"]).clone()
        ids[0, 0] = len(words) + 5
        assert_golden(golden, "cached_outside", i, elmo(batch_to_ids(batch), ids))


def test_nested_input_equals_allennlps(golden):
    nested = read_json(FOLDER / "four_d.json")
    ids = batch_to_ids([sentence for group in nested for sentence in group])
    elmo = make(scalar_mix_parameters=MIX).eval()
    for call in range(2):
        assert_golden(golden, "four_d", call, elmo(ids.view(2, 2, *ids.shape[1:])))


def test_an_empty_row_beside_others_equals_allennlps(golden):
    output = make(scalar_mix_parameters=MIX).eval()(batch_to_ids([["a", "b"], []]))
    assert_close(output["elmo_representations"][0], golden["empty_row_rep0"])
    np.testing.assert_array_equal(output["mask"], golden["empty_row_mask"])


def test_as_many_representations_come_as_are_asked_for():
    for count in (1, 2, 3):
        output = make(count, dropout=0.0)(batch_to_ids(SENTENCES))
        assert [list(r.shape) for r in output["elmo_representations"]] == [[2, 7, DIM]] * count
        assert output["mask"].dtype == torch.bool
        assert output["mask"].sum(1).tolist() == [3, 7]
    with pytest.raises(ConfigurationError, match="num_output_representations is 0"):
        make(0)


def test_kept_boundaries_make_sentences_two_longer():
    output = make(keep_sentence_boundaries=True, dropout=0.0)(batch_to_ids(SENTENCES))
    assert list(output["elmo_representations"][1].shape) == [2, 9, DIM]
    assert output["mask"].sum(1).tolist() == [5, 9]


def test_nested_input_is_its_sentences_side_by_side():
    columns = [SENTENCES, [["1", "2"], list("1234567")], [list("7654321"), ["One"]]]
    elmo = make(dropout=0.0)
    nested = elmo(torch.stack([pad(batch_to_ids(batch), 7) for batch in columns], dim=1))  # [2, 3, 7, 50]
    for k, batch in enumerate(columns):
        elmo.reset_states()
        alone = elmo(pad(batch_to_ids(batch), 7))
        torch.testing.assert_close(
            nested["elmo_representations"][0][:, k], alone["elmo_representations"][0], rtol=1e-5, atol=1e-6
        )
        assert torch.equal(nested["mask"][:, k], alone["mask"])


def pad(ids: torch.Tensor, T: int) -> torch.Tensor:
    return torch.nn.functional.pad(ids, (0, 0, 0, T - ids.shape[1]))


def test_nested_input_takes_word_ids_and_boundaries_too():
    words = ["@@PADDING@@", *SENTENCES[1]]
    ids = batch_to_ids([SENTENCES[1]] * 4).view(2, 2, 7, 50)
    word_ids = torch.arange(1, 8).expand(2, 2, 7)
    options = {"dropout": 0.0, "keep_sentence_boundaries": True}
    cached, plain = make(1, vocab_to_cache=words, **options)(ids, word_ids), make(1, **options)(ids)
    assert cached["elmo_representations"][0].shape == (2, 2, 9, DIM)
    torch.testing.assert_close(cached["elmo_representations"][0], plain["elmo_representations"][0])


def test_input_longer_than_its_longest_sentence_is_zero_there():
    output = make(dropout=0.0)(pad(batch_to_ids(SENTENCES), 10))
    assert output["elmo_representations"][0].shape == (2, 10, DIM)
    assert not output["elmo_representations"][0][:, 7:].any()


def test_another_module_can_take_the_place_of_the_bilm():
    ids = batch_to_ids(SENTENCES)
    output = Elmo(None, None, 2, dropout=0.0, module=_ElmoBiLm(OPTIONS, WEIGHTS))(ids)
    torch.testing.assert_close(output["elmo_representations"][0], make(dropout=0.0)(ids)["elmo_representations"][0])
    with pytest.raises(ConfigurationError, match="module takes the place"):
        Elmo(OPTIONS, WEIGHTS, 1, module=_ElmoBiLm(OPTIONS, WEIGHTS))
    with pytest.raises(ConfigurationError, match="weight_file is None"):
        Elmo(None, None, 1)


@pytest.mark.parametrize("learns", [False, True])
def test_the_bilm_learns_only_where_it_is_asked_to(learns):
    elmo = make(1, requires_grad=learns)
    elmo(torch.randint(1, 262, (3, 4, 50), generator=torch.Generator().manual_seed(0)))
    representation = elmo(batch_to_ids(SENTENCES))["elmo_representations"][0]
    representation.sum().backward()
    gradients = {name: p.grad for name, p in elmo.named_parameters()}
    assert all(g is not None for name, g in gradients.items() if name.startswith("scalar_mix"))
    bilm = [g for name, g in gradients.items() if "_elmo_lstm" in name]
    assert len(bilm) > 10
    assert all((g is not None and bool(g.isfinite().all())) is learns for g in bilm)


def test_a_second_backward_does_not_reach_into_the_first_call():
    elmo = make(1, requires_grad=True)
    for _ in range(2):
        elmo(batch_to_ids(SENTENCES))["elmo_representations"][0].sum().backward()


def test_fixed_mix_parameters_do_not_learn():
    elmo = make(2, scalar_mix_parameters=MIX)
    assert not any(p.requires_grad for p in elmo.parameters())
    one, other = elmo.eval()(batch_to_ids(SENTENCES))["elmo_representations"]
    assert torch.equal(one, other)
    assert not one.requires_grad


def test_dropout_acts_in_training_alone():
    torch.manual_seed(0)
    elmo = make(2)
    dropped = elmo(batch_to_ids(SENTENCES))["elmo_representations"]
    share = (dropped[0][1] == 0).float().mean()
    assert 0.3 < share < 0.7
    assert not torch.equal(dropped[0], dropped[1])
    elmo.eval()
    whole = elmo(batch_to_ids(SENTENCES))["elmo_representations"]
    assert bool((whole[0][1] != 0).all())
    assert torch.equal(whole[0], whole[1])


def test_state_goes_on_from_call_to_call_until_it_is_reset():
    elmo = make(1).eval()
    ids = batch_to_ids(SENTENCES)
    first, second = (elmo(ids)["elmo_representations"][0] for _ in range(2))
    assert (first - second).abs().max() > 1e-3
    elmo.reset_states()
    assert torch.equal(elmo(ids)["elmo_representations"][0], first)
    assert not [name for name in elmo.state_dict() if "state" in name]


@pytest.mark.parametrize("batch", [[[]], [[], []], []])
def test_a_batch_without_tokens_gives_empty_results(batch):
    output = make(1).eval()(batch_to_ids(batch))
    assert output["elmo_representations"][0].shape == (len(batch), 0, DIM)
    assert output["mask"].shape == (len(batch), 0)


def test_word_ids_without_a_cache_are_left_aside_with_a_warning(caplog):
    ids = batch_to_ids(SENTENCES)
    with caplog.at_level(logging.WARNING):
        output = make(1).eval()(ids, torch.ones(2, 7, dtype=torch.long))
    assert "no vocab_to_cache" in caplog.text
    torch.testing.assert_close(output["elmo_representations"][0], make(1).eval()(ids)["elmo_representations"][0])


def test_the_output_size_is_that_of_both_directions():
    assert make(1).get_output_dim() == DIM


def test_elmo_and_the_embedder_agree():
    top = make(1, scalar_mix_parameters=[-9e10, -9e10, 1]).eval()(batch_to_ids(SENTENCES))
    vectors = ElmoEmbedder(OPTIONS, WEIGHTS).embed_batch(SENTENCES)
    for n, layers in enumerate(vectors):
        assert_close(top["elmo_representations"][0][n, : len(SENTENCES[n])], layers[2])


@pytest.mark.gpu
def test_a_gpu_gives_the_cpus_numbers_and_takes_ids_from_the_cpu():
    here, there = make(1).eval(), make(1).eval().cuda()
    for _ in range(2):
        wanted = here(batch_to_ids(SENTENCES))
        found = there(batch_to_ids(SENTENCES))
        assert found["mask"].is_cuda
        torch.testing.assert_close(
            found["elmo_representations"][0].cpu(), wanted["elmo_representations"][0], atol=1e-4, rtol=0
        )

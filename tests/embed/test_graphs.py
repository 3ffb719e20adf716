"""Recorded batches on a GPU give the vectors of those that run step by step."""

import pytest
import torch
from tests.tiny import make_bilm

from elmo.embed.embedder import Embedder
from elmo.embed.graphs import CapturedBiLM
from elmo.text.tokenizer import Tokenizer
from elmo.weights.loaded import LoadedModel


def on_gpu(test):
    return pytest.mark.gpu(pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")(test))


def batch(lengths, T, seed, device="cuda"):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(len(lengths), T, 8, generator=generator).to(device), torch.tensor(lengths)


@torch.inference_mode()
def test_what_is_not_recorded_runs_in_the_recorded_shape_or_as_it_is():
    bilm = make_bilm()
    captured = CapturedBiLM(bilm, start=bilm.settled_state(1))
    for x, lengths in (batch([7, 5, 2], 7, 0, device="cpu"), batch([1100], 1100, 1, device="cpu")):
        ours, theirs = (run(x, lengths, bilm.settled_state(len(x)))[0] for run in (captured, bilm))
        assert ours.shape == theirs.shape
        for n, length in enumerate(lengths.tolist()):
            torch.testing.assert_close(ours[:, n, :length], theirs[:, n, :length], rtol=1e-4, atol=1e-5)
    assert list(captured._seen) == [(128, 8)]


@on_gpu
@torch.inference_mode()
def test_a_batch_has_the_same_bits_the_first_time_and_from_a_recording():
    bilm = make_bilm().cuda()
    captured = CapturedBiLM(bilm, start=bilm.settled_state(1))
    x, lengths = batch([7, 5, 2], 7, 0)
    state = bilm.settled_state(3)
    first, *others = [captured(x, lengths, state)[0].clone() for _ in range(3)]
    assert len(captured._graphs) == 1
    for other in others:
        for n, length in enumerate(lengths.tolist()):
            assert torch.equal(first[:, n, :length], other[:, n, :length])


@on_gpu
@torch.inference_mode()
def test_a_recorded_batch_equals_one_that_runs_step_by_step():
    bilm = make_bilm().cuda()
    captured = CapturedBiLM(bilm, start=bilm.settled_state(1))
    for seed, (lengths, T) in enumerate([([7, 5, 2], 7), ([8, 3, 3], 8), ([6, 6, 1, 1], 6), ([7, 5, 2], 7), ([5], 5)]):
        x, own = batch(lengths, T, seed)
        state = bilm.settled_state(len(lengths))
        ours, _ = captured(x, own, state)
        theirs, _ = bilm(x, own, state)
        for n, length in enumerate(lengths):
            torch.testing.assert_close(ours[:, n, :length], theirs[:, n, :length], rtol=1e-4, atol=1e-5)
    assert len(captured._graphs) == 1


@on_gpu
@torch.inference_mode()
def test_other_shapes_do_not_disturb_a_recorded_one():
    bilm = make_bilm().cuda()
    captured = CapturedBiLM(bilm, start=bilm.settled_state(1))
    problems = [batch([n % 5 + 1 for n in range(rows, 0, -1)], T, rows) for rows, T in ((3, 5), (200, 5), (3, 21))]
    problems = [(x, own.sort(descending=True).values) for x, own in problems]
    for _ in range(3):
        for x, lengths in problems:
            state = bilm.settled_state(len(lengths))
            ours, theirs = captured(x, lengths, state)[0], bilm(x, lengths, state)[0]
            for n, length in enumerate(lengths.tolist()):
                torch.testing.assert_close(ours[:, n, :length], theirs[:, n, :length], rtol=1e-4, atol=1e-5)
    assert len(captured._graphs) == 3


@on_gpu
def test_the_embedder_gives_on_a_gpu_what_it_gives_on_a_cpu():
    sentences = [["word"] * (n % 9 + 1) + [f"w{n}"] for n in range(300)]
    found = {}
    for device in ("cpu", "cuda"):
        model = LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer(), vocabulary=None, softmax=None)
        embedder = Embedder(model, device=device)
        for _ in range(3):  # the third time from recordings
            found[device] = embedder.encode(sentences, layers="all", batch_size=40)
    for ours, theirs in zip(found["cuda"], found["cpu"], strict=True):
        torch.testing.assert_close(torch.from_numpy(ours), torch.from_numpy(theirs), rtol=1e-4, atol=1e-5)

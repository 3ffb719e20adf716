"""Symbols of a step: the same from the device as from the host, and never more distinct ones than were said."""

import numpy as np
import pytest
import torch

import elmo.pretrain.data.resident as resident
from elmo.pretrain.data.resident import ResidentStreams
from elmo.pretrain.data.source import FetchedStreams, Prefetch, count_distinct, make_source
from elmo.pretrain.data.streams import Streams, rows_of_rank

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def make_streams(*, batch=4, window=3, order="sentence", directions=2):
    rng = np.random.default_rng(3)
    lengths = rng.integers(1, 9, size=40)
    symbols = np.concatenate([np.append(rng.integers(1, 30, size=n), 0) for n in lengths]).astype(np.int32)
    sentences = np.concatenate([[0], np.cumsum(lengths + 1)])
    documents = np.array([0, 7, 8, 20, 40])
    return Streams(
        symbols, sentences, documents, seed=5, batch=batch, window=window, order=order, directions=directions
    )


@pytest.mark.parametrize("piece", [7, 1 << 24])
@pytest.mark.parametrize("order", ["sentence", "document"])
@pytest.mark.parametrize("directions", [1, 2])
def test_the_device_gives_what_the_host_gives(monkeypatch, order, directions, piece):
    monkeypatch.setattr(resident, "PIECE", piece)
    monkeypatch.setattr(resident, "SORTED_AT_ONCE", 100)
    streams = make_streams(order=order, directions=directions)
    ours = ResidentStreams(streams, slice(None), DEVICE)
    for step in [*range(2 * streams.windows + 1), 0]:  # two epochs, and back
        expected = streams.symbols(step)
        assert np.array_equal(ours.symbols(step).cpu().numpy(), expected)
        assert ours.distinct(step) == count_distinct(expected)


def test_a_process_gets_its_rows():
    streams = make_streams()
    for rank in range(2):
        rows = rows_of_rank(4, rank=rank, world=2)
        for source in (ResidentStreams(streams, rows, DEVICE), FetchedStreams(streams, rows, pinned=False)):
            assert np.array_equal(source.symbols(4).cpu().numpy(), streams.symbols(4, rows))


def test_fetched_batches_are_counted_in_whatever_order_they_are_asked_for():
    streams = make_streams()
    source = FetchedStreams(streams, slice(None), pinned=False)
    for step in (0, 1, 5, 2):
        assert np.array_equal(source.symbols(step).numpy(), streams.symbols(step))
        assert source.distinct(step) == count_distinct(streams.symbols(step))
        assert source.distinct(step + 1) == count_distinct(streams.symbols(step + 1))


@pytest.mark.parametrize(
    "make",
    [lambda s: FetchedStreams(s, slice(None), pinned=False), lambda s: ResidentStreams(s, slice(None), DEVICE)],
    ids=["fetched", "resident"],
)
def test_the_places_suffice_for_the_first_epoch(make):
    streams = make_streams()
    source = make(streams)
    assert source.most_distinct() >= max(count_distinct(streams.symbols(step)) for step in range(streams.windows))


def test_a_separator_counts_once_for_each_direction():
    symbols = np.array([[[0, 1], [2, 0], [9, 9]], [[0, 1], [2, 0], [9, 9]]], dtype=np.int32)
    assert count_distinct(symbols) == 4


def test_on_the_cpu_batches_are_fetched():
    assert isinstance(make_source(make_streams(), slice(None), torch.device("cpu")), FetchedStreams)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_on_a_gpu_the_corpus_is_held_there_where_it_fits(monkeypatch):
    streams = make_streams()
    assert isinstance(make_source(streams, slice(None), torch.device("cuda")), ResidentStreams)
    monkeypatch.setattr("elmo.pretrain.data.source.SHARE_FOR_CORPUS", 0.0)
    assert isinstance(make_source(streams, slice(None), torch.device("cuda")), FetchedStreams)


def test_steps_in_a_row_are_each_made_once():
    made = []
    prefetch = Prefetch(lambda step: made.append(step) or step * step, ahead=2)
    assert [prefetch.take(step) for step in range(5)] == [0, 1, 4, 9, 16]
    assert made[:5] == [0, 1, 2, 3, 4]


def test_a_step_back_gives_that_steps_numbers():
    prefetch = Prefetch(lambda step: -step)
    assert [prefetch.take(step) for step in (7, 8, 3, 4, 4)] == [-7, -8, -3, -4, -4]


def test_an_error_reaches_the_caller():
    prefetch = Prefetch(lambda step: 1 // (step - 2))
    assert prefetch.take(1) == -1
    with pytest.raises(ZeroDivisionError):
        prefetch.take(2)

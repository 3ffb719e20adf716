"""Nothing is collected while a CUDA graph is recorded, and afterwards all is as before."""

import gc

import pytest
import torch

from elmo.ops.gpu.recording import _no_collection, recording


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_held_back_and_comes_back_as_it_was(enabled: bool) -> None:
    was = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with _no_collection():
            assert not gc.isenabled()
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if was else gc.disable)()


@pytest.mark.gpu
def test_graphs_that_are_garbage_do_not_break_a_recording() -> None:
    x = torch.zeros(8, device="cuda")

    def record() -> torch.cuda.CUDAGraph:
        stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
        stream.wait_stream(torch.cuda.current_stream())
        with recording(graph, stream=stream):
            for _ in range(2000):
                [[] for _ in range(10)]  # objects enough for the collector to come, if it could
            x.add_(1)
        return graph

    for _ in range(5):
        graph = record()
        cycle: list[object] = [graph]
        cycle.append(cycle)
        del graph, cycle
    record().replay()
    assert x[0].item() == 1

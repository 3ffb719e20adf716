"""Recording a CUDA graph while nothing else can spoil it."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

_ONE_AT_A_TIME = threading.Lock()


@contextmanager
def recording(graph: torch.cuda.CUDAGraph, *, stream: torch.cuda.Stream, pool: Any = None) -> Iterator[None]:
    """What runs on the stream inside is recorded, not done. Other threads may use the device meanwhile.

    The collector is held back: a model that it frees takes its own graphs along, and destroying one in the middle of a
    recording breaks the recording off. Most of what is garbage goes before it begins.
    """
    mode = "thread_local"  # what other threads do is not this recording's business
    with _ONE_AT_A_TIME, _no_collection(), torch.cuda.graph(graph, pool=pool, stream=stream, capture_error_mode=mode):
        yield


@contextmanager
def _no_collection() -> Iterator[None]:
    gc.collect()
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

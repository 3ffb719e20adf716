"""Timing on a GPU for the benchmarks beside it: captured in a CUDA graph where that works, medians of replays."""

import statistics
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

import torch

GEMM_SIZE = 8192


class Timing(NamedTuple):
    """Milliseconds of one call."""

    median: float
    fastest: float
    captured: bool


def time_calls(call: Callable[[], object], *, repeats: int = 8, capture: bool = True) -> Timing:
    """Run `call` a few times, then time it `repeats` times with events; as a CUDA graph unless `capture` is false."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(2):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    run: Callable[[], object] = call
    if capture:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            call()
        run = graph.replay
    run()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop))
    return Timing(statistics.median(times), min(times), capture)


def gemm_peak() -> float:
    """TFLOP/s of one large bfloat16 product of random numbers, through torch: the ceiling that shares refer to."""
    a, b = (torch.randn(GEMM_SIZE, GEMM_SIZE, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    out = torch.empty_like(a)
    return 2 * GEMM_SIZE**3 / time_calls(lambda: torch.mm(a, b, out=out), repeats=20).median / 1e9


def kernel_breakdown(call: Callable[[], object], *, top: int = 14) -> list[tuple[str, int, float]]:
    """The kernels of one call, captured: name, launches, milliseconds; the longest first."""
    time_calls(call, repeats=1)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    graph.replay()
    return kernels_of(graph.replay, top=top)


def kernels_of(run: Callable[[], object], *, top: int = 14) -> list[tuple[str, int, float]]:
    """The same of a call as it is."""
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        run()
        torch.cuda.synchronize()
    total: dict[str, list[float]] = defaultdict(list)
    for event in profile.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            total[event.name].append(event.device_time / 1e3)
    rows = [(name, len(times), sum(times)) for name, times in total.items()]
    return sorted(rows, key=lambda row: -row[2])[:top]


def print_kernels(rows: list[tuple[str, int, float]]) -> None:
    for name, launches, total in rows:
        print(f"    {total:8.3f} ms {launches:5d} x {total / launches * 1e3:7.1f} us  {name[:90]}")


def machine() -> str:
    """What the figures were taken on."""
    properties = torch.cuda.get_device_properties(0)
    import triton

    return (
        f"{properties.name}, {properties.multi_processor_count} multiprocessors, torch {torch.__version__}, "
        f"CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}, Triton {triton.__version__}"
    )

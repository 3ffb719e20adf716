"""The LSTM stack alone, forward and backward: ours beside cuDNN's `nn.LSTM` and a plain loop, in one run.

    python -m benchmarks.gpu.lstm_stack [--sizes small,medium,original] [--rows 128,512,1024,2048]

Two layers, two directions, 20 steps, bfloat16, cell and projection clipped at 3 (cuDNN has no clips), random state.
First our function is compared with the float64 reference at the size that is timed (at most 512 rows); where it is not
near enough, no figure is printed. Share is of the bfloat16 product of 8192 x 8192 matrices measured in the same run.
"""

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from tests.tolerances import TOLERANCE, relative_error
from torch import Tensor, nn

from benchmarks.gpu.timing import Timing, gemm_peak, kernel_breakdown, machine, print_kernels, time_calls
from elmo.ops.lstmp import LSTMPState, LSTMPWeights, lstmp, lstmp_reference

SIZES = {"small": (1024, 128), "medium": (2048, 256), "original": (4096, 512)}
T, R, LAYERS, CLIP = 20, 2, 2, 3.0


class Stack(NamedTuple):
    """One size and batch: inputs, weights, state and the gradient of each layer's output."""

    x: Tensor  # [R, T, B, P]
    weights: list[LSTMPWeights]
    states: list[LSTMPState]
    dy: Tensor  # [R, T, B, P]

    @classmethod
    def random(cls, H: int, P: int, B: int, *, dtype: torch.dtype = torch.bfloat16) -> "Stack":
        generator = torch.Generator("cuda").manual_seed(0)

        def normal(*shape: int, scale: float = 1.0, dtype: torch.dtype = dtype) -> Tensor:
            return (torch.randn(*shape, generator=generator, device="cuda") * scale).to(dtype)

        weights, states = [], []
        for _ in range(LAYERS):
            scale = (2 / (2 * P + 4 * H)) ** 0.5
            drawn = LSTMPWeights(
                normal(R, P, 4 * H, scale=scale),
                normal(R, P, 4 * H, scale=scale),
                normal(R, 4 * H, scale=0.1),
                normal(R, H, P, scale=(2 / (H + P)) ** 0.5),
            )
            weights.append(LSTMPWeights(*(w.requires_grad_() for w in drawn)))  # type: ignore[union-attr]
            wide = torch.promote_types(dtype, torch.float32)
            states.append(LSTMPState(normal(R, B, P), normal(R, B, H, dtype=wide)))
        return cls(normal(R, T, B, P).requires_grad_(), weights, states, normal(R, T, B, P))


def forward_backward(stack: Stack, function: Callable[..., Any]) -> tuple[Tensor, ...]:
    """Both layers with the skip connection, and the gradients of the input and of all weights."""
    x, outputs = stack.x, []
    for n, (weights, state) in enumerate(zip(stack.weights, stack.states, strict=True)):
        y, _ = function(x, state, weights, cell_clip=CLIP, projection_clip=CLIP)
        x = y if n == 0 else y + x
        outputs.append(x)
    leaves = [stack.x, *(w for weights in stack.weights for w in weights if w is not None)]
    return torch.autograd.grad(outputs, leaves, [stack.dy] * LAYERS)


def errors_at(H: int, P: int, B: int) -> dict[str, float]:
    """Relative errors of one layer's outputs and gradients against the reference in float64."""
    stack = Stack.random(H, P, B)
    weights, state = stack.weights[0], stack.states[0]

    def everything(function: Callable[..., Any], dtype: torch.dtype) -> list[Tensor]:
        wide = torch.promote_types(dtype, torch.float32)
        leaves = [
            stack.x.detach().to(dtype),
            state.h.to(dtype),
            state.c.to(wide),
            *(w.detach().to(dtype) for w in weights),
        ]  # type: ignore[union-attr]
        leaves = [leaf.requires_grad_() for leaf in leaves]
        x, h, c, *rest = leaves
        y, after = function(x, LSTMPState(h, c), LSTMPWeights(*rest), cell_clip=CLIP, projection_clip=CLIP)
        return [y, *after, *torch.autograd.grad((y, *after), leaves, (stack.dy.to(dtype), h.detach(), c.detach()))]

    names = ("y", "h_T", "c_T", "dx", "dh0", "dc0", "dW_x", "dW_h", "db", "dW_p")
    ours = [t.detach() for t in everything(lstmp, torch.bfloat16)]
    slow = [t.detach() for t in everything(lstmp_reference, torch.float64)]
    return {name: relative_error(a, b) for name, a, b in zip(names, ours, slow, strict=True)}


def cudnn_stack(H: int, P: int) -> list[list[nn.LSTM]]:
    """[layers][directions] of cuDNN's LSTM with projection."""
    made = [[nn.LSTM(P, H, proj_size=P).cuda().bfloat16() for _ in range(R)] for _ in range(LAYERS)]
    for lstm in (lstm for layer in made for lstm in layer):
        lstm.flatten_parameters()
    return made


def cudnn_forward_backward(stack: Stack, layers: list[list[nn.LSTM]]) -> object:
    """The same work through `nn.LSTM`: no clips, one call for each layer and direction, state in bfloat16."""
    x, outputs = stack.x, []
    for n, (layer, state) in enumerate(zip(layers, stack.states, strict=True)):
        c = state.c.to(x.dtype)
        y = torch.stack([layer[r](x[r], (state.h[r : r + 1], c[r : r + 1]))[0] for r in range(R)])
        x = y if n == 0 else y + x
        outputs.append(x)
    leaves = [stack.x, *(p for layer in layers for lstm in layer for p in lstm.parameters())]
    return torch.autograd.grad(outputs, leaves, [stack.dy] * LAYERS)


def flops_per_token(H: int, P: int) -> float:
    """Forward and backward, both layers and directions: three products' worth of each matrix."""
    return 3 * LAYERS * R * 2 * (P * 4 * H + P * 4 * H + H * P)


def report(name: str, timing: Timing, B: int, flops: float, peak: float) -> None:
    tokens = T * B / timing.median * 1e3
    rate = tokens * flops / 1e12
    how = "" if timing.captured else " (not captured)"
    print(
        f"  {name:28s} {timing.median:8.3f} ms (fastest {timing.fastest:7.3f})  {tokens / 1e3:8.1f}k tok/s  "
        f"{rate:6.1f} TFLOP/s  {rate / peak:6.1%} of gemm peak{how}",
        flush=True,
    )


def run(sizes: list[str], batches: list[int], *, peers: list[str], profile: list[int]) -> None:
    peak = gemm_peak()
    print(f"bfloat16 product {peak:.0f} TFLOP/s")
    for size in sizes:
        H, P = SIZES[size]
        flops = flops_per_token(H, P)
        for B in batches:
            print(f"{size} B={B} T={T}: {flops / 1e6:.0f} MFLOP a token")
            errors = errors_at(H, P, min(B, 512))
            worst = max(errors, key=lambda name: errors[name])
            print("  errors " + " ".join(f"{name} {value:.1e}" for name, value in errors.items()))
            if not errors[worst] < TOLERANCE[torch.bfloat16]:
                print(f"  {worst} is wrong by {errors[worst]:.2e}: no timing")
                continue
            stack = Stack.random(H, P, B)
            report("ours, clips", time_calls(partial(forward_backward, stack, lstmp)), B, flops, peak)
            if "cudnn" in peers:
                layers = cudnn_stack(H, P)
                # cuDNN allocates while it runs; outside a graph it is timed as users call it.
                call = partial(cudnn_forward_backward, stack, layers)
                report("cuDNN nn.LSTM, no clips", time_calls(call, capture=False), B, flops, peak)
                del layers, call
            if "loop" in peers:
                loop = partial(forward_backward, stack, lstmp_reference)
                report("plain loop, clips", time_calls(loop, repeats=4), B, flops, peak)
            if size == "original" and B in profile:
                print_kernels(kernel_breakdown(partial(forward_backward, stack, lstmp)))
            del stack
            torch.cuda.empty_cache()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="small,medium,original")
    parser.add_argument("--rows", default="128,512,1024,2048")
    parser.add_argument("--profile", default="512,1024", help="rows whose kernels are listed, at the original size")
    parser.add_argument("--peers", default="cudnn,loop", help="which of cudnn, loop to time beside ours")
    arguments = parser.parse_args()
    print(machine())
    rows, profile = ([int(b) for b in text.split(",") if b] for text in (arguments.rows, arguments.profile))
    run(arguments.sizes.split(","), rows, peers=arguments.peers.split(","), profile=profile)


if __name__ == "__main__":
    main()

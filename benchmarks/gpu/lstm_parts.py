"""What the plans of `ops.lstmp_cuda` rest on: each product and kernel of a step alone, then whole plans.

    PYTHONPATH=src:. python benchmarks/gpu/lstm_parts.py [--size original] [--rows 128,512] [--parts products,plans]

Products and kernels run over all 20 steps' memory in turn, as in the loop, so that caches hold no more than there.
Microseconds are of one step, both directions.
"""

import argparse
from collections.abc import Callable
from functools import partial
from itertools import product

import torch
from benchmarks.gpu.lstm_stack import SIZES, R, Stack, T, flops_per_token, forward_backward
from benchmarks.gpu.timing import copy_peak, gemm_peak, machine, time_calls
from torch import Tensor

from elmo.ops import lstmp_kernels as kernels
from elmo.ops.lstmp_cuda import Plan, _cut_sum, _splits, lstmp_cuda, plan_for

CUTS = (1, 2, 4, 8, 16)


def new(*shape: int, dtype: torch.dtype = torch.bfloat16) -> Tensor:
    return torch.randn(*shape, device="cuda", dtype=dtype) * 0.1


def each_step(call: Callable[[int], object]) -> float:
    """Microseconds of one step's call, from a graph of all steps."""

    def steps() -> None:
        for t in range(T):
            call(t)

    return time_calls(steps).median / T * 1e3


def once(call: Callable[[], object]) -> float:
    """Microseconds of a call that serves all steps, as one step's share."""
    return time_calls(call).median / T * 1e3


def show(name: str, microseconds: float, *, flops: float = 0.0, moved: float = 0.0) -> None:
    rate = f"{flops / microseconds / 1e6:6.0f} TFLOP/s" if flops else f"{moved / microseconds / 1e6:6.2f} TB/s"
    print(f"  {name:58s} {microseconds:8.1f} us {rate}", flush=True)


def time_products(H: int, P: int, B: int) -> None:
    G, K = 4 * H, 2 * P
    gates, inputs, m, dp = new(T, B, R, G), new(T, B, R, K), new(T, B, R, H), new(T, B, R, P)
    stacked, natural, projection, x, weight_x = new(R, G, K), new(R, K, G), new(R, H, P), new(R, T * B, P), new(R, P, G)
    half = stacked[..., :P].contiguous()
    hoisted, flat = gates.view(T * B, R, G).transpose(0, 1), dp.view(T * B, R, P).transpose(0, 1)
    steps, units = inputs.view(T * B, R, K).permute(1, 2, 0), m.view(T * B, R, H).permute(1, 2, 0)
    scratch = torch.empty(R * max(CUTS) * B * K, device="cuda", dtype=torch.float32)
    both, one, dx, dw = new(R, B, K), new(R, B, P), new(R, T * B, P), new(R, P, G)
    wide_dw = new(R, P, G, dtype=torch.float32)

    def rows(tensor: Tensor, t: int) -> Tensor:
        return tensor[t].transpose(0, 1)

    def apart(a: Tensor, b: Tensor, out: Tensor) -> None:
        for r in range(R):
            torch.mm(a[r], b[r], out=out[r])

    in_loop: dict[str, Callable[[int], object]] = {
        "gates, folded": lambda t: torch.bmm(rows(inputs, t), stacked.mT, out=rows(gates, t)),
        "gates, folded, weights (in, out)": lambda t: torch.bmm(rows(inputs, t), natural, out=rows(gates, t)),
        "gates, folded, directions apart": lambda t: apart(rows(inputs, t), stacked.mT, rows(gates, t)),
        "gates, recurrent half added": lambda t: rows(gates, t).baddbmm_(rows(inputs, t)[..., P:], half.mT),
        "projection, bfloat16": lambda t: torch.bmm(rows(m, t), projection, out=one),
        "projection, bfloat16, directions apart": lambda t: apart(rows(m, t), projection, one),
        "dm": lambda t: torch.bmm(rows(dp, t), projection.mT, out=rows(m, t)),
        "d[x, h], bfloat16, directions apart": lambda t: apart(rows(gates, t), stacked, both),
        "dh, bfloat16, directions apart": lambda t: apart(rows(gates, t), half, one),
    }
    for S in CUTS:
        if _splits(S, H) == S:
            in_loop[f"projection, {S} pieces"] = lambda t, S=S: _cut_sum(m[t], projection, S, scratch)
        in_loop[f"d[x, h], {S} pieces"] = lambda t, S=S: _cut_sum(gates[t], stacked, S, scratch)
        in_loop[f"dh, {S} pieces"] = lambda t, S=S: _cut_sum(gates[t], half, S, scratch)
    outside: dict[str, Callable[[], object]] = {
        "gates, input half, outside the loop": lambda: torch.bmm(x, weight_x, out=hoisted),
        "dx, outside the loop": lambda: torch.bmm(hoisted, weight_x.mT, out=dx),
        "dW_x, bfloat16": lambda: torch.bmm(steps[:, :P], hoisted, out=dw),
        "dW_x, float32": lambda: torch.bmm(steps[:, :P], hoisted, out_dtype=torch.float32, out=wide_dw),
        "dW_x, bfloat16, directions apart": lambda: apart(steps[:, :P], hoisted, dw),
        "dW_p": lambda: torch.bmm(units, flat),
    }
    times = {name: each_step(call) for name, call in in_loop.items()}
    times |= {name: once(call) for name, call in outside.items()}
    for name in sorted(times):
        if name.startswith(("projection", "dm", "dW_p")):
            terms = H * P
        else:
            terms = G * (K if "folded" in name or "[x, h]" in name else P)
        show(name, times[name], flops=2.0 * R * B * terms)


def time_kernels(H: int, P: int, B: int) -> None:
    gates, m, cells = new(T, B, R, 4 * H), new(T, B, R, H), new(T + 1, R, B, H, dtype=torch.float32)
    bias, dm, dc = new(R, 4 * H), new(B, R, H), new(R, B, H, dtype=torch.float32)
    per_cell = R * B * H
    for kernels.APPROXIMATE_TANH in (False, True):
        time = each_step(lambda t: kernels.cell(gates[t], bias, cells[t], cells[t + 1], m[t], clip=3.0))
        show(f"cell, tanh approximate {kernels.APPROXIMATE_TANH}", time, moved=per_cell * (8.0 + 8 + 2))
        dbias = kernels.bias_partials(B, R, H, device=gates.device)
        time = each_step(
            lambda t, dbias=dbias: kernels.cell_backward(gates[t], bias, cells[t], dc, dm, dbias, clip=3.0)
        )
        show(f"cell backward, tanh approximate {kernels.APPROXIMATE_TANH}", time, moved=per_cell * (16.0 + 4 + 8 + 2))
    saved = kernels.CELL_ROWS, kernels.CELL_COLUMNS, kernels.CELL_WARPS, kernels.CELL_BACKWARD_ROWS
    for rows, (columns, warps) in product((1, 2, 4, 8), ((256, 2), (512, 4), (1024, 8))):
        kernels.CELL_ROWS, kernels.CELL_COLUMNS, kernels.CELL_WARPS = rows, columns, warps
        time = each_step(lambda t: kernels.cell(gates[t], bias, cells[t], cells[t + 1], m[t], clip=3.0))
        show(f"cell, {rows} rows, {columns} columns, {warps} warps", time, moved=per_cell * (8.0 + 8 + 2))
    for rows, (columns, warps) in product((2, 4, 8, 16), ((256, 2), (512, 4))):
        kernels.CELL_COLUMNS, kernels.CELL_WARPS, kernels.CELL_BACKWARD_ROWS = columns, warps, (rows, rows)
        dbias = kernels.bias_partials(B, R, H, device=gates.device)
        time = each_step(
            lambda t, dbias=dbias: kernels.cell_backward(gates[t], bias, cells[t], dc, dm, dbias, clip=3.0)
        )
        show(f"cell backward, {rows} rows, {columns} columns, {warps} warps", time, moved=per_cell * (16.0 + 4 + 8 + 2))
    kernels.CELL_ROWS, kernels.CELL_COLUMNS, kernels.CELL_WARPS, kernels.CELL_BACKWARD_ROWS = saved
    plan = plan_for(R, B, P, H, P)
    y, h, noted = new(R, T, B, P), new(T, B, R, P), torch.ones(T, B, R, P, device="cuda", dtype=torch.uint8)
    S = plan.projection_splits
    partials = new(R * S, B, P, dtype=torch.float32)
    time = each_step(lambda t: kernels.output(partials, y[:, t], h[t], noted[t], clip=3.0))
    show(f"output from {S} pieces", time, moved=R * B * P * (4.0 * S + 5))
    S = plan.recurrent_splits
    partials = new(R * S, B, 2 * P, dtype=torch.float32)
    dx, dy, last, out = new(R, T, B, P), new(R, T, B, P), new(R, B, P), new(T, B, R, P)
    time = each_step(
        lambda t: kernels.output_backward(partials, last, dx[:, t], dy[:, t], noted[t], out[t].transpose(0, 1))
    )
    show(f"output backward from {S} pieces", time, moved=R * B * P * (8.0 * S + 7))
    weight, stacked = new(R, P, 4 * H, dtype=torch.float32), new(R, 4 * H, 2 * P)
    time = time_calls(lambda: kernels.transpose_into(weight, stacked[..., P:])).median * 1e3
    show("weights turned round, float32 to bfloat16 (once a layer)", time, moved=weight.numel() * 6.0)


def time_plans(H: int, P: int, B: int, peak: float) -> None:
    stack = Stack.random(H, P, B)
    chosen = plan_for(R, B, P, H, P)
    candidates = {chosen: "chosen"}
    for folded, apart, blocks in product((True, False), (False, True), (1, 2, 4)):
        if B // blocks < 256 and blocks > 1:
            continue
        tiles = (1 if apart else R) * -(-B // blocks // 128)
        cut = partial(
            Plan,
            folded=folded,
            projection_splits=_splits(128 // (tiles * -(-P // 128)), H),
            recurrent_splits=_splits(128 // (tiles * -(-(P + P * folded) // 128)), 4 * H),
            apart=apart,
            row_blocks=blocks,
        )
        for streams in {1, min(4, blocks * (R if apart else 1))}:
            candidates.setdefault(cut(streams=streams), "")
    for change in (0.5, 2.0):
        candidates.setdefault(chosen._replace(projection_splits=int(chosen.projection_splits * change) or 1), "")
        candidates.setdefault(chosen._replace(recurrent_splits=int(chosen.recurrent_splits * change) or 1), "")
    for plan, note in candidates.items():

        def run(x: Tensor, state: object, weights: object, *, plan: Plan = plan, **clips: float) -> object:
            return lstmp_cuda(x, state, weights, lengths=None, alive=[B] * T, plan=plan, **clips)  # type: ignore[arg-type]

        timing = time_calls(partial(forward_backward, stack, run), repeats=5)
        rate = T * B / timing.median * 1e3
        share = rate * flops_per_token(H, P) / 1e12 / peak
        print(f"  {timing.median:8.3f} ms {rate / 1e3:8.1f}k tok/s {share:6.1%}  {plan} {note}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="original", choices=SIZES)
    parser.add_argument("--rows", default="128,512,1024,2048")
    parser.add_argument("--parts", default="products,kernels,plans")
    arguments = parser.parse_args()
    H, P = SIZES[arguments.size]
    print(machine())
    peak = gemm_peak()
    print(f"bfloat16 product {peak:.0f} TFLOP/s, copy {copy_peak():.2f} TB/s")
    for B in (int(b) for b in arguments.rows.split(",")):
        print(f"{arguments.size} B={B}")
        parts = arguments.parts.split(",")
        if "plans" in parts:
            time_plans(H, P, B, peak)
        if "products" in parts:
            time_products(H, P, B)
        if "kernels" in parts:
            time_kernels(H, P, B)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()

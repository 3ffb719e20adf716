"""Random problems for the projected LSTM, and the float64 answers of its reference with all gradients."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from tests.tolerances import assert_near
from torch import Tensor

from elmo.ops.lstmp import LSTMPState, LSTMPWeights, lstmp_reference

Run = Callable[..., tuple[Tensor, LSTMPState]]
NAMES = ("y", "h_T", "c_T", "dx", "dh0", "dc0", "dW_x", "dW_h", "db", "dW_p")


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Sizes and rules. `scale` widens the gates until clips fire; weights themselves stay contractive.

    With `margins`, half of the cells and outputs go far beyond their clips and the others stay well within: a value
    near its clip may fall on either side in a 16-bit type, and its whole gradient with it.
    """

    R: int = 2
    T: int = 3
    B: int = 3
    D: int = 5
    H: int = 12
    P: int | None = 6
    lengths: tuple[int, ...] | None = None
    cell_clip: float | None = None
    projection_clip: float | None = None
    scale: float = 1.0
    margins: bool = False
    seed: int = 0


class Inputs(NamedTuple):
    """What goes in, and the gradients of what comes out."""

    x: Tensor
    h0: Tensor
    c0: Tensor
    weight_x: Tensor
    weight_h: Tensor
    bias: Tensor
    projection: Tensor | None
    dy: Tensor
    dh: Tensor
    dc: Tensor


def make_inputs(p: Problem, *, dtype: torch.dtype, device: str = "cpu") -> Inputs:
    """Random numbers that `dtype` holds exactly; cell states in at least float32."""
    generator = torch.Generator().manual_seed(p.seed)
    P = p.P or p.H
    wide = torch.promote_types(dtype, torch.float32)

    def normal(*shape: int, scale: float = 1.0, dtype: torch.dtype = dtype) -> Tensor:
        drawn = torch.randn(*shape, generator=generator, dtype=torch.float64) * scale
        return drawn.to(dtype).to(device)

    inputs = Inputs(
        x=normal(p.R, p.T, p.B, p.D),
        h0=normal(p.R, p.B, P),
        c0=normal(p.R, p.B, p.H, dtype=wide),
        weight_x=normal(p.R, p.D, 4 * p.H, scale=p.scale / p.D**0.5),
        weight_h=normal(p.R, P, 4 * p.H, scale=0.5 / P**0.5),
        bias=normal(p.R, 4 * p.H, scale=0.5),
        projection=None if p.P is None else normal(p.R, p.H, P, scale=1.5 / p.H**0.5),
        dy=normal(p.R, p.T, p.B, P),
        dh=normal(p.R, p.B, P),
        dc=normal(p.R, p.B, p.H, dtype=wide),
    )
    return with_margins(p, inputs) if p.margins else inputs


def with_margins(p: Problem, inputs: Inputs) -> Inputs:
    """The first half of the cells grow by about 1 in each step, in turn up and down; the others hardly move."""
    assert p.cell_clip is not None
    assert p.projection_clip is not None
    half, signs = p.H // 2, torch.tensor([1.0, -1.0], device=inputs.x.device)
    growing = signs.repeat(p.H)[:half]
    inputs.weight_x.mul_(0.3)
    inputs.weight_h.mul_(0.3)
    i, j, f, o = inputs.bias.chunk(4, dim=-1)
    i[:, :half], j[:, :half], f[:, :half], o[:, :half] = 5.0, 5.0 * growing, 5.0, 2.0
    i[:, half:] -= 3.0
    inputs.c0[..., :half] = p.cell_clip * growing
    inputs.c0[..., half:].mul_(0.2 * p.cell_clip).clamp_(-0.5 * p.cell_clip, 0.5 * p.cell_clip)
    if inputs.projection is not None:
        # The first half of the outputs adds up what grows, signs made equal: about three times the clip.
        columns = inputs.projection.shape[-1] // 2
        inputs.projection.mul_(0.1 * p.projection_clip)
        size = 3.0 * p.projection_clip / (half * torch.tanh(torch.tensor(p.cell_clip)).item() * 0.88)
        inputs.projection[:, :half, :columns] += size * growing[:, None] * signs.repeat(columns)[:columns]
    return inputs


def results(run: Run, p: Problem, inputs: Inputs) -> dict[str, Tensor]:
    """Everything `run` gives: outputs, final states, and the gradient of each input."""
    leaves = [None if t is None else t.detach().clone().requires_grad_() for t in inputs[:7]]
    x, h0, c0, *weights = leaves
    lengths = None if p.lengths is None else torch.tensor(p.lengths, device=inputs.x.device)
    y, state = run(
        x,
        LSTMPState(h0, c0),
        LSTMPWeights(*weights),
        lengths=lengths,
        cell_clip=p.cell_clip,
        projection_clip=p.projection_clip,
    )
    wanted = [leaf for leaf in leaves if leaf is not None]
    gradients = torch.autograd.grad((y, *state), wanted, (inputs.dy, inputs.dh, inputs.dc))
    return dict(zip(NAMES, (y.detach(), state.h.detach(), state.c.detach(), *gradients), strict=False))


def reference_results(p: Problem, inputs: Inputs) -> dict[str, Tensor]:
    """The same from the reference in float64, on the processor."""
    return results(lstmp_reference, p, Inputs(*(None if t is None else t.cpu().double() for t in inputs)))


def assert_equals_reference(run: Run, p: Problem, *, dtype: torch.dtype, device: str = "cpu") -> None:
    """All ten results as near to the float64 reference as the table of tolerances asks."""
    if dtype.itemsize < 4 and p.cell_clip is not None and p.projection_clip is not None:
        p = replace(p, margins=True)
    inputs = make_inputs(p, dtype=dtype, device=device)
    expected = reference_results(p, inputs)
    for name, value in results(run, p, inputs).items():
        assert_near(value, expected[name], dtype=dtype, name=name)


def clipped_share(p: Problem, inputs: Inputs) -> tuple[float, float]:
    """The share of cells and of outputs that stand at their clips, in the reference."""
    assert p.cell_clip is not None
    assert p.projection_clip is not None
    cells, outputs = [], []
    state = LSTMPState(inputs.h0.cpu().double(), inputs.c0.cpu().double())
    weights = LSTMPWeights(*(None if w is None else w.cpu().double() for w in inputs[3:7]))
    for t in range(p.T):
        y, state = lstmp_reference(
            inputs.x[:, t : t + 1].cpu().double(),
            state,
            weights,
            cell_clip=p.cell_clip,
            projection_clip=p.projection_clip,
        )
        cells.append(state.c.abs() == p.cell_clip)
        outputs.append(y.abs() == p.projection_clip)
    return float(torch.stack(cells).double().mean()), float(torch.cat(outputs, dim=1).double().mean())

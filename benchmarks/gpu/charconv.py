"""The character convolution alone, forward and backward: ours beside conv1d over all columns and the im2col product.

    python -m benchmarks.gpu.charconv [--words 5632,9216] [--tiles]

The published filters (2,048 of widths 1 to 7), words whose lengths are spread as in English text. First ours is
compared with the float64 reference; where it is not near enough, no figure is printed. `--tiles` times each kernel with
other tile sizes.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

import torch
from tests.tolerances import TOLERANCE, relative_error
from torch import Tensor

from benchmarks.gpu.timing import kernel_breakdown, machine, time_calls
from elmo.ops.charconv import char_convolution, char_convolution_reference
from elmo.text.chars import (
    BEGIN_WORD,
    CHARACTER_COUNT,
    CHARACTERS_IN_ROW,
    END_WORD,
    FIRST_BYTE,
    IN_WORD_PADDING,
)

FILTERS = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))
E = 16
# Distinct words of a length, in thousandths, from 1 letter on: a bell around 8 with a long tail, as in news text.
LENGTHS = (4, 12, 36, 72, 105, 130, 138, 128, 108, 85, 63, 44, 29, 18, 11, 7, 4, 3, 2, 1)


def make_words(W: int) -> Tensor:
    """[W, C] rows of random letters."""
    generator = torch.Generator().manual_seed(0)
    letters = torch.multinomial(torch.tensor(LENGTHS).float(), W, replacement=True, generator=generator) + 1
    columns = torch.arange(CHARACTERS_IN_ROW)
    rows = torch.randint(FIRST_BYTE + 97, FIRST_BYTE + 123, (W, CHARACTERS_IN_ROW), generator=generator)
    rows[columns > letters[:, None] + 1] = IN_WORD_PADDING
    rows[torch.arange(W), letters + 1] = END_WORD
    rows[:, 0] = BEGIN_WORD
    return rows.to(torch.int16).cuda()


def forward_backward(
    function: Callable[..., Tensor],
    rows: Tensor,
    table: Tensor,
    weights: Sequence[Tensor],
    biases: Sequence[Tensor],
    dresult: Tensor,
) -> list[Tensor]:
    result = function(rows, table, weights, biases)
    return [result, *torch.autograd.grad(result, (table, *weights, *biases), dresult)]


def im2col(rows: Tensor, table: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor]) -> Tensor:
    """One product for each width over all columns, through autograd."""
    embedded = torch.nn.functional.embedding(rows.long(), table)
    pooled = []
    for weight, bias in zip(weights, biases, strict=True):
        windows = embedded.unfold(1, len(weight), 1).transpose(2, 3).reshape(-1, len(weight) * E)
        pooled.append((windows @ weight.flatten(0, 1)).view(len(rows), -1, weight.shape[2]).amax(1) + bias)
    return torch.cat(pooled, dim=1)


def time_tiles(rows: Tensor, table: Tensor, dresult: Tensor) -> None:
    from elmo.ops.charconv.grouped import word_lengths

    lengths, order = word_lengths(rows, IN_WORD_PADDING).sort(descending=True)
    ids = rows[order]
    embedded = torch.nn.functional.embedding(ids.long(), table)
    weight = torch.randn(dresult.shape[1], 7 * E, device="cuda", dtype=table.dtype)
    widths, starts = (7,), (0,)
    from elmo.ops.charconv import kernels  # needs Triton, which --help does not

    pool = partial(kernels.pool, embedded, weight, lengths, order, starts=starts, widths=widths, keep=True)
    _, best = pool()

    def show(name: str, call: Callable[[], object]) -> None:
        try:
            print(f"  {name:40s} {time_calls(call).median * 1e3:8.1f} us", flush=True)
        except Exception as error:  # a tile that does not fit the machine is a finding, not a failure
            print(f"  {name:40s} {type(error).__name__}", flush=True)

    tiles = [(64, 64, 4), (64, 128, 4), (128, 64, 8), (128, 128, 8), (64, 128, 8), (128, 64, 4)]
    for tile in tiles:
        kernels.POOL_TILE = tile
        show(f"pool {tile}", pool)
    for tile in tiles:
        kernels.WEIGHT_TILE = tile
        show(
            f"weight gradient {tile}", lambda: kernels.weight_gradient(embedded, lengths, order, best, dresult, K=7 * E)
        )
    for tile, columns in product(tiles, (64, 128)):
        kernels.EMBEDDED_TILE, kernels.EMBEDDED_COLUMNS = tile, columns
        show(
            f"embedded gradient {tile}, {columns} columns",
            lambda: kernels.embedded_gradient(weight, lengths, order, best, dresult, C=rows.shape[1], E=E),
        )
    show("table gradient", lambda: kernels.table_gradient(ids, embedded, characters=CHARACTER_COUNT))
    show("lengths and sort", lambda: word_lengths(rows, IN_WORD_PADDING).sort(descending=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", default="5632,9216")
    parser.add_argument("--tiles", action="store_true")
    arguments = parser.parse_args()
    print(machine())
    convolve = partial(char_convolution, padding_id=IN_WORD_PADDING)
    for W in (int(w) for w in arguments.words.split(",")):
        rows = make_words(W)
        generator = torch.Generator("cuda").manual_seed(0)

        def normal(*shape: int, scale: float = 1.0, generator: torch.Generator = generator) -> Tensor:
            return (torch.randn(*shape, generator=generator, device="cuda") * scale).bfloat16()

        table = normal(CHARACTER_COUNT, E).requires_grad_()
        weights = [normal(width, E, count, scale=0.1).requires_grad_() for width, count in FILTERS]
        biases = [normal(count, scale=0.1).requires_grad_() for _, count in FILTERS]
        dresult = normal(W, sum(count for _, count in FILTERS))
        ours = forward_backward(convolve, rows, table, weights, biases, dresult)
        double = [t.detach().double().requires_grad_() for t in (table, *weights, *biases)]
        slow = forward_backward(char_convolution_reference, rows, double[0], double[1:8], double[8:], dresult.double())
        errors = [relative_error(a, b) for a, b in zip(ours, slow, strict=True)]
        print(f"W={W}: errors " + " ".join(f"{error:.1e}" for error in errors))
        del slow, double
        if not max(errors) < TOLERANCE[torch.bfloat16]:
            print("  not near enough to the reference: no timing")
            continue
        for name, function in (("ours", convolve), ("conv1d", char_convolution_reference), ("im2col", im2col)):
            call = partial(forward_backward, function, rows, table, weights, biases, dresult)
            timing = time_calls(call)
            print(f"  {name:10s} {timing.median:8.3f} ms (fastest {timing.fastest:.3f})", flush=True)
            if name == "ours":
                for kernel, launches, milliseconds in kernel_breakdown(call):
                    print(f"    {milliseconds:8.4f} ms {launches:4d} x  {kernel[:100]}")
        if arguments.tiles:
            time_tiles(rows, table.detach(), dresult)


if __name__ == "__main__":
    main()

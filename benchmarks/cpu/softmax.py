"""Exact losses over a large vocabulary on a CPU: in blocks of classes, against whole rows of logits.

    python -m benchmarks.cpu.softmax [--words 100000] [--size 256] [--positions 4096]

Whole rows are `F.cross_entropy` of as many positions at once as 64 MiB hold. A perplexity spends most of its time so.
"""

import argparse
import time
from collections.abc import Callable

import torch
from torch import Tensor

from elmo.ops.softmax import full_softmax_loss_blocked, full_softmax_loss_chunked

ROUNDS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=100_000)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--positions", type=int, default=4096)
    arguments = parser.parse_args()
    generator = torch.Generator().manual_seed(1)
    hidden = torch.randn(arguments.positions, arguments.size, generator=generator)
    weight = torch.randn(arguments.words, arguments.size, generator=generator) * arguments.size**-0.5
    bias = torch.randn(arguments.words, generator=generator)
    targets = torch.randint(arguments.words, (arguments.positions,), generator=generator)
    problem = (hidden, targets, weight, bias)
    ways: dict[str, Callable[..., Tensor]] = {
        "blocks": full_softmax_loss_blocked,
        "whole rows": full_softmax_loss_chunked,
    }
    best = dict.fromkeys(ways, float("inf"))
    with torch.no_grad():
        for _ in range(ROUNDS):  # in turn, so that a slow minute meets both
            for name, way in ways.items():
                began = time.perf_counter()
                way(*problem)
                best[name] = min(best[name], time.perf_counter() - began)
    for name, seconds in best.items():
        print(f"{name:12s} {arguments.positions / seconds:9,.0f} positions/s")
    print(f"blocks are {best['whole rows'] / best['blocks']:.2f} times as fast")


if __name__ == "__main__":
    main()

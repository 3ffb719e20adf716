"""Is a second run of the same command the same? The metrics of two runs, step by step.

    python -m benchmarks.pretrain.same_run RUN OTHER

Compares what both have recorded: losses and gradient norms of training, perplexities of the held-out text. The second
may be shorter. Times are not compared.
"""

import argparse
from pathlib import Path
from typing import Any

from elmo.run.metrics import read_metrics

KINDS = ("train", "heldout")
NOT_COMPARED = {"seconds", "symbols_per_second"}


def compare_runs(run: Path, other: Path) -> list[dict[str, Any]]:
    """For each kind of line: how many both have, how many are equal to every digit, the largest relative difference."""
    found = []
    for kind in KINDS:
        a, b = ({m["step"]: numbers(m) for m in read_metrics(path) if m["kind"] == kind} for path in (run, other))
        steps = sorted(a.keys() & b.keys())
        apart = [abs(b[s][name] - value) / max(abs(value), 1e-9) for s in steps for name, value in a[s].items()]
        found.append(
            {
                "kind": kind,
                "lines": len(steps),
                "equal": sum(a[s] == b[s] for s in steps),
                "apart": max(apart, default=0.0),
                "last": steps[-1] if steps else None,
            }
        )
    return found


def numbers(line: dict[str, Any]) -> dict[str, float]:
    """The numbers of a line of metrics but the times."""
    return {k: v for k, v in line.items() if isinstance(v, int | float) and k not in NOT_COMPARED}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("other", type=Path)
    arguments = parser.parse_args()
    for line in compare_runs(arguments.run, arguments.other):
        if line["last"] is None:
            print(f"{line['kind']}: no step is in both runs")
        else:
            print(
                f"{line['kind']}: {line['lines']:,} lines in both, the last at step {line['last']:,}; "
                f"{line['equal']:,} equal to every digit; at most {line['apart']:.2%} apart"
            )


if __name__ == "__main__":
    main()

"""`make demo`: what the packaged English model knows, in a few seconds and offline.

`python demo MODEL` shows the same with another model.
"""

import logging
import os
import sys
import time

from tour import tour

import elmo
from elmo.weights.published.packaged import DEFAULT


def main() -> None:
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    started = time.perf_counter()
    model = sys.argv[1] if len(sys.argv) > 1 else DEFAULT
    # Half of the processors: often there are two to a core, and waiting for a busy one costs more than it brings.
    embedder = elmo.load(model, device="cpu", num_threads=max(1, (os.cpu_count() or 2) // 2))
    print(f"{model} loaded in {time.perf_counter() - started:.1f} s\n")
    tour(embedder)
    print(f"done in {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()

"""How long old code takes in AllenNLP, under `elmo.compat.allennlp`, and rewritten for `elmo`; same machine, same work.

    python -m benchmarks.migration.compare --allennlp-python ~/allennlp-0.9/bin/python --size small

Random weights of a published size and generated sentences. Each side runs in a process of its own, both in turn, round
by round, so that other work on the machine meets both alike. Prints a Markdown table of the least time of all rounds,
with the most, and the largest difference between both sides' vectors.
"""

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SIZES = ("small", "medium", "original")
FEW, MANY, BATCH, MODULE_BATCH, WARM_UP = 16, 128, 64, 32, 4


Sentences = list[list[str]]


def main() -> None:
    arguments = parse()
    if arguments.worker:
        work(arguments)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_model(folder / "model", size=arguments.size)
        (folder / "work.json").write_text(json.dumps(make_work()), encoding="utf-8")
        common = [str(folder / "model"), str(folder / "work.json"), str(arguments.threads)]
        worker = Path(__file__).with_name("allennlp_worker.py")
        ours, theirs = Side(), Side()
        for _ in range(arguments.rounds):
            theirs.add(run([arguments.allennlp_python, str(worker), *common, str(folder / "theirs.npz")]))
            ours.add(run([sys.executable, __file__, "--worker", *common, str(folder / "ours.npz")]))
        report(arguments, ours, theirs, difference(folder / "ours.npz", folder / "theirs.npz"))


@dataclass
class Side:
    """What one side took, in all rounds."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    torch: str = ""

    def add(self, found: dict[str, Any]) -> None:
        self.torch = found["torch"]
        for name, seconds in found["seconds"].items():
            self.seconds.setdefault(name, []).append(seconds)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--allennlp-python", default=sys.executable, help="the Python that can import allennlp")
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def make_work() -> dict[str, object]:
    """Sentences of 4 to 40 words; words come as often as in a text: the n-th with a share of 1 / n."""
    chance = random.Random(0)
    words = ["".join(chance.choices("abcdefghijklmnoprstuvwyz", k=chance.randint(1, 11))) for _ in range(20_000)]
    shares = [1 / (n + 1) for n in range(len(words))]
    sentences = [chance.choices(words, shares, k=chance.randint(4, 40)) for _ in range(MANY)]
    sizes = {"batch": BATCH, "module_batch": MODULE_BATCH, "warm_up": WARM_UP}
    return {"many": sentences, "few": sentences[:FEW], **sizes}


def write_model(path: Path, *, size: str) -> None:
    import torch

    from elmo.model.bilm import BiLM
    from elmo.pretrain.sizes import model_of_size
    from elmo.text.tokenizer import Tokenizer
    from elmo.weights import formats
    from elmo.weights.loaded import LoadedModel

    bilm = BiLM(model_of_size(size))
    bilm.initialize(torch.Generator().manual_seed(0))
    formats.write_model(LoadedModel(bilm=bilm, tokenizer=Tokenizer(rule="treebank")), path, format="bilm-tf")


def run(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def work(arguments: argparse.Namespace) -> None:
    """Our side, in a process of its own."""
    import numpy as np
    import torch

    import elmo
    from elmo.compat.allennlp import Elmo, ElmoEmbedder, batch_to_ids

    model, work_file, threads, vectors_file = arguments.worker
    torch.set_num_threads(int(threads))
    given = json.loads(Path(work_file).read_text("utf-8"))
    few, many = given["few"], given["many"]
    files = (f"{model}/options.json", f"{model}/weights.hdf5")
    shim, new = ElmoEmbedder(*files), elmo.load(model, device="cpu")
    shim_module, new_module = Elmo(*files, 1, dropout=0.0).eval(), elmo.Elmo.from_pretrained(model, dropout=0.0).eval()
    np.savez(vectors_file, *[shim.embed_sentence(sentence) for sentence in few[:WARM_UP]])
    runs: dict[str, tuple[Callable[[Sentences], object], Sentences]] = {
        "shim/one by one": (lambda work: [shim.embed_sentence(s) for s in work], few),
        "shim/in batches": (lambda work: list(shim.embed_sentences(work, BATCH)), many),
        "shim/Elmo module": (lambda work: [shim_module(batch_to_ids(batch)) for batch in batches(work)], many),
        "new/one by one": (lambda work: [new.encode([s], layers="all") for s in work], few),
        "new/in batches": (lambda work: new.encode(work, layers="all", batch_size=BATCH), many),
        "new/Elmo module": (lambda work: [new_module(batch) for batch in batches(work)], many),
    }
    seconds = {}
    with torch.no_grad():
        for name, (function, sentences) in runs.items():
            function(sentences[:WARM_UP])
            forget(shim.elmo_bilm._row_vectors, shim_module._elmo_lstm._row_vectors, new, new_module)
            start = time.perf_counter()
            function(sentences)
            seconds[name] = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "torch": torch.__version__}))


def batches(sentences: Sentences) -> list[Sentences]:
    return [sentences[n : n + MODULE_BATCH] for n in range(0, len(sentences), MODULE_BATCH)]


def forget(*memories: Any) -> None:
    """As in a first run over a text, the vectors of words are not known yet."""
    for memory in memories:
        getattr(memory, "_cache", memory).clear()


def difference(ours: Path, theirs: Path) -> float | None:
    import numpy as np

    if not theirs.exists():
        return None
    with np.load(ours) as one, np.load(theirs) as other:
        return max(float(np.abs(one[name] - other[name]).max()) for name in other)


def report(arguments: argparse.Namespace, ours: Side, theirs: Side, apart: float | None) -> None:
    print(f"{time.strftime('%Y-%m-%d')}, {machine()}, threads: {arguments.threads}, size {arguments.size}, ", end="")
    print(f"torch {ours.torch} (AllenNLP's: {theirs.torch}), least of {arguments.rounds} rounds (most)\n")
    print("| work | AllenNLP | `compat.allennlp` | `elmo` |")
    print("|---|---|---|---|")
    labels = {
        "one by one": f"{FEW} sentences, one by one",
        "in batches": f"{MANY} sentences, batches of {BATCH}",
        "Elmo module": f"{MANY} sentences, module, batches of {MODULE_BATCH}",
    }
    for name, label in labels.items():
        if name not in theirs.seconds:
            continue
        base = min(theirs.seconds[name])
        cells = [f"{base:.2f} s ({max(theirs.seconds[name]):.2f})"]
        for side in ("shim", "new"):
            seconds = ours.seconds[f"{side}/{name}"]
            cells.append(f"{min(seconds):.2f} s ({max(seconds):.2f}), {base / min(seconds):.1f} times as fast")
        print(f"| {label} | {' | '.join(cells)} |")
    if apart is not None:
        print(f"\nLargest difference of the same vectors, AllenNLP to `compat.allennlp`: {apart:.1e}")


def machine() -> str:
    name = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = [line for line in information.read_text("utf-8").splitlines() if line.startswith("model name")]
        name = lines[0].split(":", 1)[1].strip() if lines else name
    return f"{os.cpu_count()} cores of {name}"


if __name__ == "__main__":
    main()

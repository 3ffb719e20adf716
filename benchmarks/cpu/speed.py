"""How fast a CPU embeds with `elmo`, beside AllenNLP, simple_elmo and `nn.LSTM`, all in one run on the same sentences.

    python -m benchmarks.cpu.speed --text sentences.txt --sizes small --allennlp-python ~/allennlp/bin/python

Random weights of the published sizes. Sentences (one a line, tokens with white space between) in batches of 1, 8, 32
and 64, all layers; the word cache is emptied before each pass, so that no word is known beforehand. Every contestant
runs in a process of its own, in turn, round by round, so that other work on the machine meets all alike; the best pass
counts. `nn.LSTM` (projected, packed sequences, no clips) is timed against our stack alone, from ready token vectors.
Prints tokens a second, peak memory, the time from the start of the process to its first vector, and the share of what
the processor's instructions, and a library's matrix product, reach (benchmarks.cpu.peaks). Time on a quiet machine: the
load is printed. On a busy one, `--clock cpu --threads 1` compares the work itself, in tokens for each second of CPU
time.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SIZES = ("small", "medium", "original")
BATCHES = (1, 8, 32, 64)
COUNTS = {"original": (12, 64, 128, 128), "medium": (24, 128, 256, 256), "small": (48, 256, 512, 512)}
OURS = {"elmo": "float32", "elmo int8": "int8"}
STACKS = ("stack alone", "nn.LSTM")
ALTERNATIVES = ("plain torch", "ONNX Runtime", "stack, torch.compile")  # benchmarks.cpu.alternatives

Found = dict[str, float]


def main() -> None:
    arguments = parse()
    if arguments.worker:
        work(*arguments.worker)
        return
    sentences = [line.split() for line in Path(arguments.text).read_text("utf-8").splitlines() if line.strip()]
    print(f"{time.strftime('%Y-%m-%d %H:%M')} {machine()}, threads: {arguments.threads}, clock: {arguments.clock}")
    print(f"load {os.getloadavg()}")
    for size in arguments.sizes:
        with tempfile.TemporaryDirectory() as name:
            found = measure(arguments, size, sentences, Path(name))
            report(size, found, sentences)
            report_shares(size, found, sentences, threads=arguments.threads if arguments.clock == "wall" else 1)
    print(f"load {os.getloadavg()}")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--text", help="sentences, one a line, tokens with white space between")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=["original", "small"])
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall", help="seconds of the wall or of the CPU")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--passes", type=int, default=3, help="passes over the sentences in a round")
    parser.add_argument("--allennlp-python", help="a Python that can import allennlp")
    parser.add_argument("--simple-elmo-python", help="a Python that can import simple_elmo")
    parser.add_argument("--alternatives", action="store_true", help="other ways too: torch.compile, ONNX Runtime")
    parser.add_argument("--only", nargs="+", help="some of the contestants, by name")
    arguments = parser.parse_args()
    if not arguments.worker and not arguments.text:
        parser.error("--text is missing")
    return arguments


def measure(arguments: argparse.Namespace, size: str, sentences: list[list[str]], folder: Path) -> dict[str, Found]:
    """The best of all rounds for each contestant: seconds by batch size, megabytes, seconds of a cold start."""
    make_models(folder, size)
    os.environ["ELMO_CACHE"] = str(folder / "cache")  # packed weights of these models are for this run
    # Kernels lie there too. They are built once for a machine, so that is no part of a cold start.
    subprocess.run([sys.executable, "-c", "from elmo.ops.cpu.library import cpu_library; cpu_library()"], check=True)
    counts = [(batch, min(count, len(sentences))) for batch, count in zip(BATCHES, COUNTS[size], strict=True)]
    given = {"sentences": sentences, "counts": counts, "passes": arguments.passes, "clock": arguments.clock}
    (folder / "work.json").write_text(json.dumps(given), encoding="utf-8")
    task = str(folder / "work.json")
    peer = str(Path(__file__).with_name("peer.py"))
    names = [*OURS, *STACKS, *(ALTERNATIVES if arguments.alternatives else ())]
    commands = {name: [sys.executable, __file__, "--worker", name, str(folder / "native"), task] for name in names}
    if arguments.allennlp_python:
        commands["AllenNLP"] = [arguments.allennlp_python, peer, "allennlp", str(folder / "hdf5"), task]
    if arguments.simple_elmo_python:
        commands["simple_elmo"] = [arguments.simple_elmo_python, peer, "simple_elmo", str(folder / "hdf5"), task]
    best: dict[str, Found] = {}
    for _ in range(arguments.rounds):
        for name, command in commands.items():
            if arguments.only and name not in arguments.only:
                continue
            found = run(command, threads=arguments.threads)
            known = best.setdefault(name, found)
            best[name] = {key: min(value, known[key]) for key, value in found.items()}
    return best


def make_models(folder: Path, size: str) -> None:
    import torch

    from elmo.model.bilm import BiLM
    from elmo.pretrain.sizes import model_of_size
    from elmo.text.tokenizer import Tokenizer
    from elmo.weights import formats
    from elmo.weights.loaded import LoadedModel

    bilm = BiLM(model_of_size(size))
    bilm.initialize(torch.Generator().manual_seed(0))
    model = LoadedModel(bilm=bilm, tokenizer=Tokenizer(rule="whitespace"))
    model.settle()
    formats.write_model(model, folder / "native")
    formats.write_model(model, folder / "hdf5", format="bilm-tf")


def run(command: list[str], *, threads: int) -> Found:
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    environment |= {"TF_NUM_INTRAOP_THREADS": str(threads), "TF_NUM_INTEROP_THREADS": "1"}
    start = time.time()
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    found: Found = json.loads(done.stdout.splitlines()[-1])
    found["cold"] = found.pop("first") - start
    return found


def work(name: str, model: str, task: str) -> None:
    """One contestant of ours, in a process of its own."""
    if name in OURS:
        embed, forget = embedder(model, OURS[name])
    elif name in ALTERNATIVES:
        sys.path.insert(0, str(Path(__file__).parents[2]))
        from benchmarks.cpu import alternatives

        embed, forget = alternatives.ALTERNATIVES[name](model)
    else:
        embed, forget = stack(model, theirs=name == "nn.LSTM")
    embed([["cold", "start"]], 1)
    found: dict[str, Any] = {"first": time.time()}
    given = json.loads(Path(task).read_text("utf-8"))
    clock = {"wall": time.perf_counter, "cpu": time.process_time}[given["clock"]]
    for size, count in given["counts"]:
        sentences = given["sentences"][:count]
        embed(sentences[:size], size)
        seconds = []
        for _ in range(given["passes"]):
            forget()
            start = clock()
            embed(sentences, size)
            seconds.append(clock() - start)
        found[str(size)] = min(seconds)
    found["megabytes"] = peak_megabytes()
    print(json.dumps(found))


def peak_megabytes() -> float:
    """Of this program alone: `ru_maxrss` would count the process that started it, too."""
    with open("/proc/self/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


Embed = Callable[[list[list[str]], int], object]


def embedder(model: str, dtype: str) -> tuple[Embed, Callable[[], None]]:
    import elmo

    loaded = elmo.load(model, device="cpu", precision=dtype)
    return lambda sentences, size: loaded.encode(sentences, layers="all", batch_size=size), loaded._cache.clear


def stack(model: str, *, theirs: bool) -> tuple[Embed, Callable[[], None]]:
    """Both directions of both layers from token vectors that are given, sentences sorted by length."""
    import numpy as np

    import elmo
    from elmo.embed.batches import by_length

    loaded = elmo.load(model, device="cpu")
    config = loaded.model.config.lstm
    D, H, P = config.input_dim, config.cell_dim, config.output_dim
    if not theirs:

        def run(sentences: list[list[str]], size: int) -> None:
            for batch in by_length([len(s) for s in sentences], most_sentences=size, most_positions=4096):
                real = np.array([len(sentences[n]) + 2 for n in batch])
                x = np.zeros((len(batch), int(real.max()), D), np.float32)
                loaded._runner(x, real, loaded._runner.settled_state(len(batch)))

        return run, lambda: None

    import torch
    from torch import nn

    # With biases alone it could be exact but for the clips; random weights serve, since only the time counts.
    halves = [nn.LSTM(D, H, num_layers=2, proj_size=P, batch_first=True).eval() for _ in range(2)]

    def embed(sentences: list[list[str]], size: int) -> None:
        lengths = [len(s) for s in sentences]
        with torch.inference_mode():
            for batch in by_length(lengths, most_sentences=size, most_positions=4096):
                real = torch.tensor([lengths[n] + 2 for n in batch])
                x = torch.zeros(len(batch), int(real.max()), D)
                packed = nn.utils.rnn.pack_padded_sequence(x, real, batch_first=True)
                for half in halves:
                    half(packed)

    return embed, lambda: None


def report(size: str, found: dict[str, Found], sentences: list[list[str]]) -> None:
    tokens = [sum(map(len, sentences[:count])) for count in COUNTS[size]]
    print(f"\n{size}: tokens/s at B = {' / '.join(map(str, BATCHES))}, peak memory, cold start to first vector")
    for name, values in found.items():
        rates = [count / values[str(batch)] for batch, count in zip(BATCHES, tokens, strict=True)]
        line = f"  {name:20} {' / '.join(f'{rate:.0f}' for rate in rates):28} {values['megabytes']:.0f} MB"
        print(f"{line}, {values['cold']:.1f} s")
    pairs = [("elmo", other) for other in ("AllenNLP", "simple_elmo", *ALTERNATIVES[:2])]
    pairs += [("elmo int8", "elmo"), STACKS, (STACKS[0], ALTERNATIVES[2])]
    for one, other in pairs:
        if one in found and other in found:
            ratios = [found[other][str(batch)] / found[one][str(batch)] for batch in BATCHES]
            print(f"  {one} is {' / '.join(f'{r:.1f}' for r in ratios)} times as fast as {other}")


def report_shares(size: str, found: dict[str, Found], sentences: list[list[str]], *, threads: int) -> None:
    """What part of the time the products alone would take at the rate of the processor's instructions."""
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from benchmarks.cpu.peaks import gemm_rate, operations, peaks
    from elmo.pretrain.sizes import model_of_size

    work = [operations(model_of_size(size), sentences[:count]) for count in COUNTS[size]]
    rates = peaks()
    limits = [(name, "the instructions' peak", rates[kind]) for name, kind in OURS.items() if kind in rates]
    limits.append(("elmo", "NumPy's product", gemm_rate()))
    for name, limit, rate in limits:
        if name in found:
            floors = [done / rate / threads / 1e9 for done in work]
            shares = [floor / found[name][str(batch)] for batch, floor in zip(BATCHES, floors, strict=True)]
            percent = " / ".join(f"{100 * share:.0f}" for share in shares)
            print(f"  {name}: {percent} % of {limit} ({rate * threads:.0f} billion a second, threads: {threads})")


def machine() -> str:
    name = ""
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = [line for line in information.read_text("utf-8").splitlines() if line.startswith("model name")]
        name = lines[0].split(":", 1)[1].strip() if lines else ""
    return f"{os.cpu_count()} cores of {name}"


if __name__ == "__main__":
    main()

"""The packaged model beside all-MiniLM-L6-v2, which many would take instead: token vectors of raw text on a CPU.

    python -m benchmarks.cpu.minilm --text lines.txt --transformer-python ~/st/bin/python --transformer FOLDER \
        --onnx-python ~/ort/bin/python --onnx FOLDER/model.onnx FOLDER/model_int8.onnx

Contestants that are not given are left out. FOLDER holds a model that sentence-transformers reads; each .onnx file has
its tokenizer.json beside it. Words a second count what stands between white space. The cache of words is emptied before
each pass, so that no word is known beforehand. Every contestant runs in a process of its own, in turn, round by round,
and its best pass counts. `--clock cpu --threads 1` compares the work itself where others use the machine.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

Found = dict[str, float]
OURS = {"elmo": "float32", "elmo bfloat16": "bfloat16", "elmo int8": "int8"}


def main() -> None:
    arguments = parse()
    if arguments.worker:
        work(*arguments.worker)
        return
    texts = [line.strip() for line in Path(arguments.text).read_text("utf-8").splitlines() if line.strip()]
    texts = texts[: arguments.lines]
    words = sum(len(text.split()) for text in texts)
    print(f"{time.strftime('%Y-%m-%d')}, {len(texts)} lines, {words} words, batches of {arguments.batch}, ", end="")
    print(f"threads: {arguments.threads}, clock: {arguments.clock}, load {os.getloadavg()}")
    report(measure(arguments, texts), words)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--text", help="raw text, one or more sentences a line")
    parser.add_argument("--lines", type=int, default=512, help="how many lines to take")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--transformer-python", default=sys.executable, help="a Python with sentence-transformers")
    parser.add_argument("--transformer", help="a folder that sentence-transformers reads")
    parser.add_argument("--onnx-python", default=sys.executable, help="a Python with onnxruntime and tokenizers")
    parser.add_argument("--onnx", nargs="*", default=[], help="exported models, tokenizer.json beside each")
    arguments = parser.parse_args()
    if not arguments.worker and not arguments.text:
        parser.error("--text is missing")
    return arguments


def measure(arguments: argparse.Namespace, texts: list[str]) -> dict[str, Found]:
    """The best of all rounds for each contestant: seconds, megabytes, seconds of a cold start."""
    peer = str(Path(__file__).with_name("minilm_peer.py"))
    best: dict[str, Found] = {}
    with tempfile.TemporaryDirectory() as folder:
        task = Path(folder, "work.json")
        given = {"texts": texts, "batch": arguments.batch, "passes": arguments.passes, "clock": arguments.clock}
        task.write_text(json.dumps(given), encoding="utf-8")
        commands = {name: [sys.executable, __file__, "--worker", OURS[name], str(task)] for name in OURS}
        if arguments.transformer:
            name = f"sentence-transformers, {Path(arguments.transformer).name}"
            commands[name] = [arguments.transformer_python, peer, "torch", arguments.transformer, str(task)]
        for path in arguments.onnx:
            name = f"ONNX Runtime, {Path(path).name}"
            commands[name] = [arguments.onnx_python, peer, "onnx", path, str(task)]
        for _ in range(arguments.rounds):
            for name, command in commands.items():
                found = run(command, threads=arguments.threads)
                if not found:  # this processor has no such precision
                    continue
                known = best.setdefault(name, found)
                best[name] = {key: min(value, known[key]) for key, value in found.items()}
    return best


def run(command: list[str], *, threads: int) -> Found:
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    environment |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false" if threads == 1 else "true"}
    start = time.time()
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    found: Found = json.loads(done.stdout.splitlines()[-1])
    if found:
        found["cold"] = found.pop("first") - start
    return found


def work(precision: str, task: str) -> None:
    """The packaged model, in a process of its own."""
    import elmo

    loaded = elmo.load(device="cpu", precision=precision)  # type: ignore[arg-type]
    if loaded.precision != precision:
        print("{}")
        return
    loaded.encode("cold start")
    found: Found = {"first": time.time()}
    given = json.loads(Path(task).read_text("utf-8"))
    clock = {"wall": time.perf_counter, "cpu": time.process_time}[given["clock"]]
    seconds = []
    for _ in range(given["passes"]):
        loaded._cache.clear()
        start = clock()
        loaded.encode(given["texts"], batch_size=given["batch"])
        seconds.append(clock() - start)
    found["seconds"] = min(seconds)
    with open("/proc/self/status", encoding="utf-8") as file:
        found["megabytes"] = next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))
    print(json.dumps(found))


def report(found: dict[str, Found], words: int) -> None:
    print("\n| | words/s | against elmo int8 | peak memory | start to first vector |")
    print("|---|---|---|---|---|")
    for name, values in found.items():
        ratio = found["elmo int8"]["seconds"] / values["seconds"] if "elmo int8" in found else float("nan")
        rate = words / values["seconds"]
        print(f"| {name} | {rate:.0f} | {ratio:.2f} | {values['megabytes']:.0f} MB | {values['cold']:.1f} s |")


if __name__ == "__main__":
    main()

"""What a laptop can train: the defaults for a CPU beside other choices, each with the same minutes on the same text.

    python -m benchmarks.pretrain.laptop CORPUS --minutes 10 --threads 2 -o results.jsonl [--only default adam ...]

CORPUS is a corpus store. A choice makes as many passes as the defaults would make without a clock, or as many as fit
into the minutes, by the speed of its first steps; its schedule ends with them. Every finished choice is a line of the
results. Perplexity is full-softmax, held out, average of both directions, of the best checkpoint.

Only the minutes depend on the machine, not what a number of steps reaches. So whole hours can be tried in minutes: time
the steps on a CPU (`--step-seconds FILE --only-time`), then make the same steps on a GPU (`--step-seconds FILE --device
cuda`).
"""

import argparse
import dataclasses
import itertools
import json
import statistics
import tempfile
import time
from pathlib import Path

import torch

from benchmarks.pretrain.beats_trigram import describe
from elmo.corpus import CorpusStore
from elmo.lm.head import SampledConfig
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.data.streams import windows_per_epoch
from elmo.pretrain.defaults import choose_epochs, complete_config
from elmo.pretrain.pretraining import pretrain
from elmo.pretrain.result import Result
from elmo.pretrain.step.optimizers import AdamConfig
from elmo.run.metrics import read_metrics

TRIAL_SECONDS = 20.0
FIRST_STEPS = 3
EVALUATION_SHARE = 0.1  # of the minutes that go to held-out text


def choices(default: TrainConfig) -> dict[str, TrainConfig]:
    """What is compared, by name; `default` has nothing open."""
    assert default.batch_size is not None
    return {
        "default": default,
        "adam": default.replace(optimizer=AdamConfig()),
        "tiny": default.replace(size="tiny"),
        "small": default.replace(size="small"),
        "half the rows": default.replace(batch_size=max(1, default.batch_size // 2)),
        "twice the rows": default.replace(batch_size=2 * default.batch_size),
        "four times the rows": default.replace(batch_size=4 * default.batch_size),
        "8,192 samples": default.replace(loss=dataclasses.replace(SampledConfig(), samples=8192)),
        "no dropout": default.replace(dropout=0.0),
        "small, adam": default.replace(size="small", optimizer=AdamConfig()),
    }


def run(store: CorpusStore, config: TrainConfig, *, steps: int, device: str) -> tuple[Result, float, list[float]]:
    """A run of so many steps: its result, the seconds of its steps, and its held-out perplexities."""
    with tempfile.TemporaryDirectory() as folder:
        result = pretrain(store, config.replace(steps=steps), folder, device=device, tensorboard=False)
        lines = list(read_metrics(Path(folder)))
    seconds = max((line["seconds"] for line in lines if line["kind"] == "train"), default=0.0)
    return result, seconds, [line["average"] for line in lines if line["kind"] == "heldout"]


def seconds_of_a_step(store: CorpusStore, config: TrainConfig) -> float:
    """On a CPU, the median of those in some seconds, without the first ones, in which buffers are made."""
    endless = config.replace(log_every=1, evaluate_every=10**9, checkpoint_every=10**9, steps=10**6)
    with tempfile.TemporaryDirectory() as folder:
        pretrain(store, endless, folder, device="cpu", tensorboard=False, time_limit=TRIAL_SECONDS)
        ends = [line["seconds"] for line in read_metrics(Path(folder)) if line["kind"] == "train"]
    laps = [after - before for before, after in itertools.pairwise(ends)]
    if len(laps) <= FIRST_STEPS:
        raise SystemExit(f"only {len(ends)} steps in {TRIAL_SECONDS} s; this choice is too slow to be compared")
    return statistics.median(laps[FIRST_STEPS:])


def step_seconds(store: CorpusStore, wanted: dict[str, TrainConfig], file: Path | None) -> dict[str, float]:
    """Seconds of a step of each choice: as the file has them, or measured now and added to it."""
    seconds: dict[str, float] = json.loads(file.read_text(encoding="utf-8")) if file and file.exists() else {}
    for name, config in wanted.items():
        if name not in seconds:
            seconds[name] = seconds_of_a_step(store, config)
            if file:
                file.write_text(json.dumps(seconds), encoding="utf-8")
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--evaluations", type=int, default=20, help="of a run; each takes its time")
    parser.add_argument("--only", nargs="+", help="some of the choices, by name")
    parser.add_argument("--step-seconds", type=Path, help="a JSON file that keeps the seconds of a step on a CPU")
    parser.add_argument("--only-time", action="store_true", help="end when the steps are timed")
    parser.add_argument("--device", default="cpu", help="where the runs are made")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    store = CorpusStore.open(given.corpus)
    print(describe(store))
    symbols = len(store.train_symbols)
    default = complete_config(TrainConfig.recipe("modern"), symbols=symbols, device="cpu")
    wanted = {name: config for name, config in choices(default).items() if not given.only or name in given.only}
    a_step = step_seconds(store, wanted, given.step_seconds)
    if given.only_time:
        return
    for name, config in wanted.items():
        began, processor = time.monotonic(), time.process_time()
        assert config.batch_size is not None
        windows = windows_per_epoch(symbols, batch=config.batch_size, window=config.window)
        passes = round(choose_epochs(symbols, device="cuda") * windows)
        steps = max(20, min(passes, int(60 * given.minutes * (1 - EVALUATION_SHARE) / a_step[name])))
        every = -(-steps // given.evaluations)
        result, seconds, curve = run(store, config.replace(evaluate_every=every), steps=steps, device=given.device)
        if result.perplexity is None:
            raise SystemExit(f"{name}: stopped after {result.step:,} of {result.steps:,} steps ({result.status})")
        line = {
            "corpus": given.corpus.name,
            "choice": name,
            "size": config.size,
            "optimizer": config.optimizer.kind,
            "rows": config.batch_size,
            "steps": steps,
            "epochs": round(steps / windows, 2),
            "device": given.device,
            "cpu_minutes": round(a_step[name] * steps / 60, 2),  # of the steps alone, by the speed of the first ones
            "minutes": round(seconds / 60, 2),
            "minutes_in_all": round((time.monotonic() - began) / 60, 2),
            "processor_minutes": round((time.process_time() - processor) / 60, 2),
            "perplexity": round(result.perplexity.average, 2),
            "unknown_rate": round(result.perplexity.unknown_rate, 4),
            "curve": [round(value, 1) for value in curve],
        }
        with open(given.output, "a", encoding="utf-8") as out:
            out.write(json.dumps(line) + "\n")
        print({key: value for key, value in line.items() if key != "curve"}, flush=True)


if __name__ == "__main__":
    main()

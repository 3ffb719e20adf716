"""All that is measured of a task, in one command: vectors, a tuned biLM, options tuned on dev, the arms, the curves.

    python -m benchmarks.tasks.campaign entailment --train train.jsonl --dev dev.jsonl --test test.jsonl \
        --model english --vectors glove.npz -o results --seeds 5 --jobs 10 --minutes 25

1. OUT/TASK-vectors.npz: the word vectors that the files need.
2. OUT/TASK-tuned: the biLM fine-tuned for one epoch on the text of the training file, labels unread (`--skip-tuned`).
3. `benchmarks.tasks.search` on dev: the options of the baseline and those of ELMo at the input, as many runs for both.
4. `benchmarks.tasks.run` with those: the baseline, and every way of adding ELMo. The test file is read here alone.
5. The baseline and ELMo at the input on parts of the training file: the learning curves.

The same command makes what is missing, so `--minutes` may stop it anywhere. `--tiny` tries all of it on a CPU with
small files, such as the samples of the tests: one epoch, a network of eight units, few options; scores mean nothing.
"""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.tasks import run, search, vectors
from benchmarks.tasks.jobs import ARMS, make_parser
from benchmarks.tasks.report import read_results, write_report
from elmo.tasks.recipes import find_recipe

# Tried on dev, for the baseline and for ELMo alike; what is not here runs as its recipe says.
GRIDS = {
    "ner": ["train.learning_rate=0.0005,0.001,0.002", "task.model.dropout=0.35,0.5"],
    "classification": ["train.learning_rate=0.0005,0.001", "task.model.embedding_dropout=0.3,0.5"],
    "entailment": ["train.learning_rate=0.0004,0.001,0.002", "task.model.dropout=0.35,0.5"],
    "questions": ["train.learning_rate=0.0005,0.001,0.002", "task.model.dropout=0.2,0.3"],
    "roles": [
        "train.learning_rate=0.001,0.002",
        "task.model.dropout=0.2,0.4",
        "task.model.embedding_dropout=0.2,0.5",
    ],
    "coreference": ["train.learning_rate=0.0005,0.001", "task.model.embedding_dropout=0.3,0.5"],
}
# Of the training file: where less would teach nothing, less is not tried.
FRACTIONS = {"entailment": (0.01, 0.03, 0.1, 0.3), "questions": (0.1, 0.3), "coreference": (0.1, 0.3)}
USUAL_FRACTIONS = (0.01, 0.1)
TINY = ["train.epochs=1", "task.model.hidden=8"]
TINY_STEPS, TINY_FRACTIONS = "2", (0.5,)


def main(arguments: list[str] | None = None) -> None:
    parser = make_parser(__doc__.splitlines()[0])
    parser.add_argument("--test", required=True)
    parser.add_argument("--skip-tuned", action="store_true", help="leave the fine-tuned biLM out")
    parser.add_argument("--tiny", action="store_true", help="try all of it on very little")
    given = parser.parse_args(arguments)
    began, out, task = time.monotonic(), given.output, given.task
    out.mkdir(parents=True, exist_ok=True)

    def common(*, test: bool) -> list[str]:
        left = [] if given.minutes is None else ["--minutes", f"{given.minutes - (time.monotonic() - began) / 60:.3f}"]
        options = {"--train": given.train, "--dev": given.dev, "--model": given.model, "--cache": given.cache}
        options |= {"--jobs": str(given.jobs), "-o": str(out)} | ({"--test": given.test} if test else {})
        options |= {} if small is None else {"--vectors": str(small)}
        options |= {} if given.device is None else {"--device": given.device}
        changes = [*(TINY if given.tiny else []), *given.changes]
        return [task, *(part for pair in options.items() for part in pair), *left, *_repeat("--set", changes)]

    small = _small_vectors(given, out / f"{task}-vectors.npz")
    tuned = None if given.skip_tuned or given.tuned_model else _tune(given, out / f"{task}-tuned")
    tuned = given.tuned_model or tuned
    grid = GRIDS.get(task, [])
    chosen = _search(common(test=False), grid[:1] if given.tiny else grid, out, task)
    fractions = [*(TINY_FRACTIONS if given.tiny else FRACTIONS.get(task, USUAL_FRACTIONS)), 1.0]
    seeds = ["--seeds", str(given.seeds), "--first-seed", str(given.first_seed)]
    for arms in (["baseline"], [arm for arm in ARMS if arm != "baseline" and (arm != "tuned" or tuned)]):
        options = chosen["baseline" if arms == ["baseline"] else "input"]
        more = [*_repeat("--set", options), *seeds, *(["--tuned-model", str(tuned)] if "tuned" in arms else [])]
        run.main([*common(test=True), *more, "--arms", *arms])
        curve = [arm for arm in arms if arm in ("baseline", "input")]
        run.main([*common(test=True), *more, "--arms", *curve, "--fractions", *map(str, fractions)])
    command = " ".join(["python -m benchmarks.tasks.campaign", *(arguments or sys.argv[1:])])
    write_report(read_results([out / f"{task}.jsonl"]), out, task, command=command)
    print((out / f"{task}.md").read_text("utf-8"))


def _search(common: list[str], grid: list[str], out: Path, task: str) -> dict[str, list[str]]:
    """The best options of the baseline and of ELMo at the input."""
    if not grid:
        return {"baseline": [], "input": []}
    search.main([*common, "--seeds", "1", "--arms", "baseline", "input", *_repeat("--grid", grid)])
    found: dict[str, list[str]] = json.loads((out / f"{task}-search.json").read_text("utf-8"))
    return {"baseline": [], "input": [], **found}


def _small_vectors(given: Any, path: Path) -> Path | None:
    if given.vectors is None:
        return None
    if not path.exists():
        vectors.main([given.vectors, "-o", str(path), f"--{given.task}", given.train, given.dev, given.test])
    return path


def _tune(given: Any, path: Path) -> Path:
    """The biLM after one epoch on the texts of the training file."""
    if not (path / "model").is_dir():
        from elmo.apps.cli.main import main as elmo
        from elmo.apps.cli.resuming import NOTHING_GAINED

        text = path.with_suffix(".txt")
        text.write_text("".join(f"{line}\n" for line in sentences(given.task, given.train)), encoding="utf-8")
        arguments = ["finetune", str(text), "--tokenized", "--model", given.model, "-o", str(path)]
        arguments += ["--device", given.device] if given.device else []
        arguments += ["--steps", TINY_STEPS] if given.tiny else ["--epochs", "1"]
        arguments += ["--resume"] if path.exists() else []
        if elmo(arguments) not in (0, NOTHING_GAINED):
            raise SystemExit("the biLM could not be tuned; --skip-tuned leaves it out")
    return path / "model"


def sentences(task: str, path: str) -> Iterator[str]:
    """Each distinct sentence of a file's texts as a line of tokens."""
    examples = find_recipe(task).make_task().read(path)
    found = dict.fromkeys(s for example in examples for text in example.texts for s in text.sentences)
    return map(" ".join, found)


def _repeat(option: str, values: list[str]) -> list[str]:
    return [part for value in values for part in (option, value)]


if __name__ == "__main__":
    main()

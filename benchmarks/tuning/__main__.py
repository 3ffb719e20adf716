"""Which recipe of fine-tuning helps the tasks? Texts x recipes on one GPU, held-out perplexity and scores on dev.

    python -m benchmarks.tuning DATA --model english --vectors glove.npz -o OUT --jobs 6 --minutes 6

1. Each recipe of `benchmarks.tuning.recipes` on each text of `benchmarks.tuning.texts` (and on `--text FILE`, a
   domain's text, or FILE:WORDS for its beginning): held-out perplexity before and after, and of averages with the
   start. For tags, pairs and labelled texts a linear classifier of the layers tells at once what that did to the
   vectors.
2. The best of these over all tasks (`--best`): whole task models on dev, some seeds, beside the untuned biLM
   (`--runs`).

Test files are not read. Every line of OUT/tuned.jsonl and OUT/runs.jsonl is one finished part; the same command makes
what is missing, as often as it is stopped, and writes OUT/tuning.md. `--tiny` tries all of it on a CPU with a few
sentences.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.tasks.jobs import Job, make_all, read_results
from benchmarks.tuning.recipes import RECIPES
from benchmarks.tuning.table import best_ways, make_tables
from benchmarks.tuning.texts import TEXTS
from benchmarks.tuning.units import PROBED, UNTUNED, Part, Run, model_place, train_with, try_recipe

LATER = 4
TINY = ["train.epochs=1", "task.model.hidden=8"]
P = TypeVar("P", Part, Run)

# The task models of the second part: few epochs, which are enough to tell biLMs apart.
RUNS = {
    "conll": ["train.epochs=5"],
    "snli": ["train.batch_size=64", "train.learning_rate=0.001", "train.epochs=4"],
    "sst": ["train.epochs=2"],
    "ewt": ["train.epochs=4"],
}


def main(arguments: list[str] | None = None) -> None:
    given = read_options(arguments)
    out: Path = given.output
    out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    recipes = [UNTUNED, *(given.recipes or RECIPES)]
    texts = [*(given.texts or TEXTS), *given.text]
    parts = [
        Part(text, recipe, str(given.data), given.model, str(out), given.device, given.tiny)
        for recipe in recipes
        for text in texts
        if is_searched(text) or (RECIPES[recipe].wide if recipe != UNTUNED else text in TEXTS)
    ]
    # What tells recipes apart comes first; texts of no task and those that no classifier is trained on a bit later.
    parts.sort(key=lambda part: recipes.index(part.recipe) + (0 if is_searched(part.text) else LATER))
    deadline = began + 60 * given.minutes
    first = began + 60 * given.minutes * (1 - given.runs_share if given.runs else 1)
    tuned = make_missing(parts, try_recipe, out / "tuned.jsonl", processes=given.jobs, deadline=first)
    runs: list[dict[str, Any]] = []
    if given.runs:
        also = [read_way(way) for way in given.also]
        best = best_ways([r for r in tuned if is_searched(r["text"])], PROBED, most=given.best)
        ways = [*also, *(way for way in best if way not in also)][: given.best]
        wanted = list(task_runs(given, ways, parts))
        runs = make_missing(wanted, train_with, out / "runs.jsonl", processes=given.jobs, deadline=deadline)
    command = " ".join(["python -m benchmarks.tuning", *(arguments or sys.argv[1:])])
    (out / "tuning.md").write_text(make_tables(tuned, runs, command=command), encoding="utf-8")
    print((out / "tuning.md").read_text("utf-8"))


def read_options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder of task data")
    parser.add_argument("--model", default="english", help="the biLM")
    parser.add_argument("--vectors", help="static word vectors of the task models")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--texts", nargs="+", choices=TEXTS, help="all, if not given")
    parser.add_argument("--text", action="append", default=[], help="a domain's text in DATA: FILE or FILE:WORDS")
    parser.add_argument("--recipes", nargs="+", choices=RECIPES, help="all, if not given")
    parser.add_argument("--runs", nargs="*", choices=RUNS, default=["conll", "snli"], help="whole task models")
    parser.add_argument("--runs-share", type=float, default=0.6, help="of the minutes, for these")
    parser.add_argument("--best", type=int, default=2, help="so many recipes for these, beside the untuned biLM")
    parser.add_argument(
        "--also", action="append", default=[], metavar="RECIPE@SHARE", help="one that is among these in any case"
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1, help="processes at the same time")
    parser.add_argument("--minutes", type=float, default=6.0, help="begin nothing after so long")
    parser.add_argument("--device")
    parser.add_argument("--tiny", action="store_true", help="try all of it on very little")
    return parser.parse_args(arguments)


def is_searched(text: str) -> bool:
    """Whether all recipes are tried on a text."""
    return text in TEXTS and TEXTS[text].searched


def read_way(text: str) -> tuple[str, float]:
    recipe, _, share = text.rpartition("@")
    if recipe not in RECIPES:
        raise SystemExit(f"--also {text}: there is no recipe {recipe!r}; there are {', '.join(RECIPES)}")
    return recipe, float(share)


def task_runs(given: argparse.Namespace, ways: list[tuple[str, float]], parts: list[Part]) -> Iterator[Run]:
    """Seed by seed, so that whatever is finished can be compared."""
    first = parts[0]
    for seed in range(1, given.seeds + 1):
        for text in given.runs:
            task = TEXTS[text]
            for recipe, share in [(UNTUNED, 1.0), *ways]:
                part = first._replace(text=text, recipe=recipe, keep=(share,))
                changes = TINY if given.tiny else RUNS[text]
                model = given.model if recipe == UNTUNED else str(model_place(part, share))
                job = Job(
                    task.task, "input", seed, 0.02 if given.tiny else 1.0, str(given.data / task.train),
                    str(given.data / task.dev), None, model, given.vectors, str(given.output / "layers"), given.device,
                    tuple(changes),
                )  # fmt: skip
                yield Run(text, recipe, share, part, job)


def make_missing(
    wanted: Sequence[P], make: Callable[[P], dict[str, Any]], path: Path, *, processes: int, deadline: float
) -> list[dict[str, Any]]:
    """What has no line in the file is made, and its line added at once; all that is finished."""
    done = {result["key"]: result for result in read_results([path])}
    missing = [one for one in wanted if one.key not in done]
    print(f"{path.name}: {len(wanted)} wanted, {len(missing)} to be made", flush=True)
    with path.open("a", encoding="utf-8") as file:
        for result in make_all(missing, make, processes=processes, deadline=deadline):
            file.write(json.dumps(result) + "\n")
            file.flush()
            done[result["key"]] = result
            print(json.dumps(result), flush=True)
    return [done[one.key] for one in wanted if one.key in done]


if __name__ == "__main__":
    main()

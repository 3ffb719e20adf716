"""What does ELMo add to a task? Baseline, ELMo at the input, at both places, the top layer alone; several seeds each.

    python -m benchmarks.tasks.run ner --train eng.train --dev eng.testa --test eng.testb \
        --model MODEL --vectors glove.npz -o results --seeds 5 --jobs 8

Every finished run is a line of results/ner.jsonl; the same command again makes only the missing ones, so it can be
stopped at any time (`--minutes` does it). Then results/ner.md (the table beside the paper's) and the plots are made.
`--fractions 0.01 0.1 1` gives the learning curves, with more epochs for less data. `--set
train.learning_rate=0.002` changes an option of all arms alike; `benchmarks.tasks.search` finds out which.
"""

import sys

from benchmarks.tasks.jobs import ARMS, USUAL_ARMS, Job, make_missing, make_parser, model_of
from benchmarks.tasks.report import write_report


def main(arguments: list[str] | None = None) -> None:
    parser = make_parser(__doc__.splitlines()[0])
    parser.add_argument("--test", required=True)
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=list(USUAL_ARMS))
    parser.add_argument("--fractions", type=float, nargs="+", default=[1.0])
    given = parser.parse_args(arguments)
    given.output.mkdir(parents=True, exist_ok=True)
    jobs = [
        Job(
            given.task, arm, seed, fraction, given.train, given.dev, given.test, model_of(arm, given), given.vectors,
            given.cache, given.device, tuple(given.changes), arm == "tuned" and given.tuned_model is None,
        )
        for fraction in given.fractions
        for seed in range(given.first_seed, given.first_seed + given.seeds)
        for arm in given.arms
    ]  # fmt: skip
    results = given.output / f"{given.task}.jsonl"
    finished = make_missing(jobs, results, processes=given.jobs, minutes=given.minutes)
    command = " ".join(["python -m benchmarks.tasks.run", *(arguments or sys.argv[1:])])
    write_report(finished, given.output, given.task, command=command)
    print((given.output / f"{given.task}.md").read_text("utf-8"))


if __name__ == "__main__":
    main()

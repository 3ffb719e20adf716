"""The battery: all figures that a candidate for the English model is judged by, beside those of the model before it.

    python -m benchmarks.english MODEL [MODEL ...] --data FOLDER -o results.jsonl [--device cuda] [--jobs 12]

A column of the table for each model, with the difference to the first. The parts, in the order in which they begin:

- ner100, ner10: F1 on CoNLL-2003's test set with ELMo at the input, trained with all and with a tenth of the data
- wsd: F1 of nearest sense averages on four sets of all-words disambiguation together, by layer
- pos: accuracy of a linear probe for EWT's Penn tags on the test set, by layer
- perplexity: of five texts, over the full vocabulary, the state carried from sentence to sentence
- senses: how often the nearest use of an ambiguous word has its sense, in two sets of sentences, by layer

FOLDER has what each part reads; a part without its files is left out, with the reason:

    english_heldout.txt english_heldout_new.txt                   perplexity (raw text)
    lm1b_heldout_dev.tokens wikitext103_valid.txt ptb.valid.txt   perplexity (tokenized as published)
    wsd/SemCor/semcor.data.xml (and .gold.key.txt)                wsd
    wsd/WordNet-3.0/index.sense                                   wsd
    wsd/Evaluation_Datasets/SET/SET.data.xml (and .gold.key.txt)  wsd: senseval2 senseval3 semeval2013 semeval2015
    pos_ud_ewt/en_ewt-ud-{train,dev,test}.conllu                  pos
    ner_conll2003/eng.{train,testa,testb}                         ner100, ner10
    vectors.npz                                                   ner100, ner10: static vectors, cut to the words by
                                                                  benchmarks.tasks.vectors; without, they are learned

Perplexity needs a softmax: the model's own, or that of a file (`--softmax`, once a model and in their order, `-` for
none). Each finished unit (a text, a set, a seed) is a line of results.jsonl and is never measured again for the same
model, known by the hash of its numbers, and the same options. So the command can be stopped at any time (`--minutes`
does it), and the model before costs nothing the next time. A file of results is of one FOLDER.

`--jobs` measures so many units beside each other; on one GPU they share it (benchmarks.tasks). `--quick` takes a small
part of the data, to see that everything works: such figures mean nothing, and have lines of their own.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.english.table import make_table
from benchmarks.english.units import PARTS, Unit, find_model, measure, units_of
from benchmarks.tasks.jobs import make_all


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "models", nargs="+", metavar="MODEL", help="a model directory or a name; the first is compared with"
    )
    parser.add_argument("--data", required=True)
    parser.add_argument("-o", "--output", type=Path, required=True, help="the results, a line a unit")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--softmax", action="append", default=[], metavar="FILE", help="once a model; - for none")
    parser.add_argument("--seeds", type=int, nargs="+", default=[3, 2], help="of ner10 and of ner100, or of both")
    parser.add_argument("--set", dest="changes", action="append", default=[], metavar="NAME=VALUE",
                        help="an option of the recipe for names")  # fmt: skip
    parser.add_argument("--jobs", type=int, default=1, help="units at the same time")
    parser.add_argument("--minutes", type=float, help="begin no unit after so long")
    parser.add_argument("--device")
    parser.add_argument(
        "--cache", default=str(Path(tempfile.gettempdir()) / "elmo-task-layers"), help="of layers, for names"
    )
    parser.add_argument("--quick", action="store_true", help="a small part of the data, for trials")
    given = parser.parse_args(arguments)
    if len(given.softmax) > len(given.models):
        parser.error(f"--softmax is given {len(given.softmax)} times, but there are {len(given.models)} models")
    if len(given.seeds) > 2:
        parser.error(f"--seeds has {len(given.seeds)} numbers; one or two are wanted, of ner10 and of ner100")
    began = time.monotonic()
    files = [None if file == "-" else file for file in given.softmax] + [None] * len(given.models)
    models = [find_model(name, file) for name, file in zip(given.models, files, strict=False)]
    seeds = {"ner10": given.seeds[0], "ner100": given.seeds[-1]}
    wanted = [
        unit
        for model in models
        for unit in units_of(
            given.parts, model, seeds=seeds, data=given.data, device=given.device, cache=given.cache,
            quick=given.quick, changes=tuple(given.changes),
        )
    ]  # fmt: skip
    wanted.sort(key=lambda unit: PARTS.index(unit.part))  # those of all models beside each other
    able = [unit for unit in wanted if unit.lacking is None]
    done = {result["key"] for result in read_lines(given.output)}
    missing = list({unit.key: unit for unit in able if unit.key not in done}.values())
    print(f"{len(able)} units, {len(missing)} to be measured", flush=True)
    deadline = None if given.minutes is None else began + 60 * given.minutes
    append(missing, given.output, processes=given.jobs, deadline=deadline)
    results = {result["key"]: result for result in read_lines(given.output)}
    # The other way round: the table begins with what a biLM is by itself.
    rows = sorted(able, key=lambda unit: -PARTS.index(unit.part))
    columns = [
        (model.name, [results[unit.key] for unit in rows if unit.model == model and unit.key in results])
        for model in models
    ]
    print(f"\n{make_table(columns)}\n")
    if given.quick:
        print("Quick: a small part of the data; the figures mean nothing.")
    for reason in dict.fromkeys(unit.lacking for unit in wanted if unit.lacking is not None):
        print(f"Left out: {reason}.")
    left = [unit for unit in able if unit.key not in results]
    print(f"{len(able) - len(left)} of {len(able)} units, {time.monotonic() - began:.0f} s.")
    if left:
        sys.exit(f"{len(left)} units are missing; the same command measures them")


def append(units: list[Unit], path: Path, *, processes: int, deadline: float | None) -> None:
    """Measure units and add their lines to the file of results as they come."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+", encoding="utf-8") as file:
        file.seek(0)
        if file.read()[-1:] not in ("", "\n"):  # a line that was cut off: the next one is not to be part of it
            file.write("\n")
        for result in make_all(units, measure, processes=processes, deadline=deadline):
            file.write(json.dumps(result) + "\n")
            file.flush()
            figures = ", ".join(f"{name} {value:.2f}" for name, value in result["figures"].items())
            print(f"{result['model']}: {figures} ({result['seconds']:.0f} s)", flush=True)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The finished units of a file; a line that was cut off is none."""
    found = []
    for line in path.read_text("utf-8").splitlines() if path.is_file() else []:
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


if __name__ == "__main__":
    main()

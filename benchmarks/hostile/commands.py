"""Fuzz the command line: changed files given to `elmo`, which must end with a word, and never with an internal error.

    python -m benchmarks.hostile.commands --inputs 300

A failure is a command that says "internal error", leaves with an exception, says several lines, or ends with 1 or 2 and
nothing on standard error.
"""

import argparse
import contextlib
import io
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks.hostile.fuzz import make_targets
from benchmarks.hostile.target import Target
from benchmarks.hostile.texts import INDEX
from benchmarks.hostile.works import language_model
from elmo.apps.cli.main import main as elmo
from elmo.text.vocabulary import SPECIALS, Vocabulary
from elmo.weights.formats import write_model

Command = Callable[[Path], list[str]]


def commands_for(target: Target, text: Path, model: Path) -> list[Command]:
    """The commands that read what a target changes; without any for what only Python reads."""
    names = set(target.files)
    if "corpus.json" in names:
        return [
            lambda path: ["verify", str(path)],
            lambda path: ["perplexity", str(path), "--model", str(model)],
            lambda path: ["pretrain", str(path), "-o", str(path / "run"), "--steps", "1", "--size", "tiny"],
        ]
    if "index.json" in names:
        return [
            lambda path: ["info", str(path)],
            lambda path: ["verify", str(path)],
            lambda path: ["index", "uses", str(path), "river"],
        ]
    if target.name.startswith("configuration"):
        return [
            lambda path: [
                "pretrain",
                str(path / "none"),
                "-o",
                str(path / "run"),
                "--config",
                str(path / target.changed),
            ]
        ]
    if target.name == "recipe":
        return [lambda path: [*_training(path, text), "--config", str(path / "recipe.toml")]]
    if target.name in ("columns", "CoNLL-U"):
        return [lambda path: _training(path, path / target.changed)]
    if target.name.startswith("labels"):
        return [lambda path: _training(path, path / target.changed, name="classification")]
    if target.name == "questions":
        return [
            lambda path: [
                *("neighbors", "--questions", str(path / target.changed)),
                *("--text", str(text), "--model", str(model)),
            ]
        ]
    if "task.json" in names:
        return [
            lambda path: ["task", "evaluate", str(path), str(text), "--model", str(model)],
            lambda path: ["task", "predict", str(path), str(text), "--model", str(model)],
        ]
    if target.name.startswith("word vectors"):
        return [lambda path: [*_training(path, text), "--vectors", str(path / target.changed)]]
    if target.name in ("senses", "sense keys"):
        return [lambda path: _senses(path, path / "index.sense", model)]
    if target.name == "vocabulary of words":
        return [lambda path: ["vocab", "check", str(path / "vocab.txt")]]
    if target.name.startswith("text"):
        return [
            lambda path: ["embed", str(path / target.changed), "-o", str(path / "out.jsonl"), "--model", str(model)],
            lambda path: ["corpus", "build", str(path / target.changed), "-o", str(path / "corpus"), "--workers", "1"],
        ]
    if "elmo.json" not in names and names & {"config.json", "options.json", "model.zip"}:
        name = "model.zip" if "model.zip" in names else ""
        return [
            lambda path: ["info", str(path / name)],
            lambda path: ["verify", str(path / name)],
            lambda path: ["embed", str(text), "-o", str(path / "out.npz"), "--model", str(path / name)],
            lambda path: ["convert", str(path / name), str(path / "converted")],
        ]
    return []


def judge(arguments: list[str]) -> tuple[str, str]:
    """How a command ended, and what it said."""
    said, shown = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(shown):
        try:
            code = elmo(arguments)
        except BaseException as error:
            return "ESCAPED", f"{type(error).__name__}: {error}"[:300]
    lines = said.getvalue().strip().splitlines()
    if any("internal error" in line for line in lines):
        return "INTERNAL ERROR", said.getvalue()[-300:]
    if code == 0:
        return "done", ""
    if not lines and arguments[0] == "vocab" and shown.getvalue().strip():  # its findings are its result
        return "refused", ""
    if not lines:
        return "ENDS WITHOUT A WORD", shown.getvalue()[-300:]
    if not lines[-1].startswith("elmo: ") or any(not line.startswith("elmo: ") for line in lines):
        return "SEVERAL LINES", said.getvalue()[-300:]
    return "refused", lines[-1]


def main(argv: list[str] | None = None) -> int:
    """Run the inputs one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    counts: Counter[tuple[str, str]] = Counter()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        text.write_text("Paul NNP B-NP B-PER\nsleeps VBZ B-VP O\n", encoding="utf-8")
        model = Path(folder) / "lm"
        vocabulary = Vocabulary((*SPECIALS, "the", "river"))
        write_model(language_model(vocabulary), model)
        targets = make_targets(Path(folder) / "valid")
        pairs = [(target, command) for target in targets for command in commands_for(target, text, model)]
        for number in range(options.inputs):
            target, command = pairs[number % len(pairs)]
            directory = Path(folder) / "files"
            target.lay_out(directory)
            target.change(directory, options.seed, number)
            arguments = command(directory)
            outcome, words = judge(arguments)
            name = " ".join(arguments[: 2 if arguments[0] in ("task", "corpus", "vocab") else 1])
            counts[name, outcome] += 1
            if outcome.isupper():
                failures += 1
                print(f"input {number} ({target.name}): {' '.join(arguments)}: {outcome}: {words}", flush=True)
    for (name, outcome), count in sorted(counts.items()):
        print(f"{name:16s} {outcome:20s} {count:6,}")
    print(f"{options.inputs:,} inputs, {failures} failures, seed {options.seed}")
    return 1 if failures else 0


def _training(path: Path, data: Path, *, name: str = "ner") -> list[str]:
    return [
        *["task", "train", name, "--elmo", "none", "--epochs", "1", "--train"],
        str(data),
        "--dev",
        str(data),
        "-o",
        str(path / "run"),
    ]


def _senses(path: Path, index: Path, model: Path) -> list[str]:
    index.write_bytes(INDEX)
    data = str(path / "x.data.xml")
    return ["task", "wsd", data, "--train", data, "--index-sense", str(index), "--model", str(model)]


if __name__ == "__main__":
    sys.exit(main())

"""How much memory does coreference take for a long document? One training step and one answer, on a generated text.

    python -m benchmarks.tasks.coreference_memory --tokens 10000

The document is read whole in training too (`task.model.sentences=none`); sizes are those of the recipe, ELMo is the
packaged model at the input. A process of its own for each of the two; what is told is its peak, libraries included.
"""

import argparse
import multiprocessing
import random
import resource
import sys
import time
from typing import Any

import numpy as np
import torch

from elmo.tasks.coreference.chains import Chain
from elmo.tasks.examples import Example, Text
from elmo.tasks.recipes import find_recipe
from elmo.tasks.training.learner import Learner
from elmo.weights.formats import read_model

PEOPLE = ("Maria", "the old captain", "her brother", "a girl from the village", "Tom Brandt", "the bank")
PRONOUNS = ("she", "he", "him", "she", "he", "it")
VERBS = ("saw", "followed", "forgot", "met", "painted", "called")
REST = ("near the river", "in May", "before the bridge was gone", "again", "with a quiet word", "at the market")


def make_document(tokens: int, *, seed: int = 1) -> Example:
    """Sentences of two people each, of whom some are pronouns; every person is a chain."""
    dice = random.Random(seed)
    sentences: list[list[str]] = []
    chains: dict[int, list[tuple[int, int]]] = {}
    before = 0
    while before < tokens:
        words: list[str] = []
        for role in (0, 1):
            person = dice.randrange(len(PEOPLE)) + len(PEOPLE) * (before // 2000)
            name = PEOPLE[person % len(PEOPLE)] if dice.random() < 0.6 else PRONOUNS[person % len(PEOPLE)]
            start = before + len(words)
            words += name.split()
            chains.setdefault(person, []).append((start, before + len(words)))
            words += [dice.choice(VERBS)] if role == 0 else dice.choice(REST).split()
        words = [*words, "."][: tokens - before]
        before += len(words)
        sentences.append(words)
    known: tuple[Chain, ...] = tuple(tuple(m for m in chain if m[1] <= tokens) for chain in chains.values())
    return Example((Text.of_sentences(sentences),), tuple(c for c in known if len(c) > 1), "generated document")


def measure(what: str, tokens: int, where: str, device: str) -> dict[str, Any]:
    """Train one step on the document, or answer it."""
    began = time.perf_counter()
    document = make_document(tokens)
    recipe = find_recipe("coreference").changed({"task.model.sentences": None, "embedding.elmo.where": where})
    model = None if where == "none" else read_model("english")
    learner = Learner(
        "coreference", recipe, recipe.make_task(), [document], [document],
        model=model, reference=None, vectors=None, device=torch.device(device), store=None,
    )  # fmt: skip
    if what == "training step":
        told = f"loss {float(learner.step(np.array([0]), 0)):.0f}"
    else:
        told = f"{len(learner.trained.answer(learner.dev)[0])} chains"
    found: dict[str, Any] = {"what": what, "told": told, "seconds": time.perf_counter() - began}
    found["resident"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if device.startswith("cuda"):
        found["device"] = torch.cuda.max_memory_allocated()
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=10_000)
    parser.add_argument("--elmo", default="input", choices=["none", "input", "output", "both"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--most", type=float, default=8.0, help="GB; more is a failure")
    given = parser.parse_args(arguments)
    worst = 0.0
    for what in ("training step", "answer"):
        # A new process: the peak of one that has done both would be that of the larger one.
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found = pool.apply(measure, (what, given.tokens, given.elmo, given.device))
        worst = max(worst, found["resident"], found.get("device", 0))
        beside = f", {found['device'] / 1e9:.2f} GB on the device" if "device" in found else ""
        print(
            f"{found['what']}: {given.tokens:,} tokens, {found['told']}, "
            f"peak {found['resident'] / 1e9:.2f} GB{beside}, "
            f"{found['seconds']:.0f} s",
            flush=True,
        )
    if worst > given.most * 1e9:
        sys.exit(f"more than {given.most:g} GB")


if __name__ == "__main__":
    main()

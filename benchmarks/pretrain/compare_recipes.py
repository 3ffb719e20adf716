"""The recipes that come with the product on the same text, model, batch and number of tokens.

    python -m benchmarks.pretrain.compare_recipes CORPUS [--epochs 4] [--size small] [--batch-size 512] [--device cuda]

CORPUS is a corpus store. Perplexity is full-softmax, held out, average of both directions, for the three ways of
starting a sentence: from the state after the text before it, from the settled state, and from zero. The default recipe
also runs at twice and at half its rate (a recipe that is right at one rate only is no default), and with Adam.
"""

import argparse
import dataclasses
import tempfile
from pathlib import Path
from typing import get_args

from benchmarks.pretrain.beats_trigram import describe
from elmo.corpus import CorpusStore
from elmo.lm.perplexity import store_perplexity
from elmo.pretrain.choices import Size
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.plan import choose_learning_rate
from elmo.pretrain.pretraining import pretrain
from elmo.pretrain.sizes import model_of_size
from elmo.pretrain.step.optimizers import AdamConfig, MuonConfig
from elmo.run.metrics import read_metrics
from elmo.weights.formats import read_model


def recipes(size: Size) -> dict[str, TrainConfig]:
    """What is compared, by name. Precision is the same for all, so that only the recipes differ."""
    ours, theirs = TrainConfig.recipe("modern"), TrainConfig.recipe("paper").replace(precision="auto")
    rate = choose_learning_rate(model_of_size(size).lstm.cell_dim)
    return {
        "modern": ours,
        "modern, rate x 2": ours.replace(optimizer=dataclasses.replace(ours.optimizer, learning_rate=2 * rate)),
        "modern, rate / 2": ours.replace(optimizer=dataclasses.replace(ours.optimizer, learning_rate=rate / 2)),
        "modern, Adam": ours.replace(optimizer=AdamConfig()),
        "modern, scale 0.1": ours.replace(optimizer=MuonConfig(matrix_scale=0.1)),
        "modern, no dropout": ours.replace(dropout=0.0),
        "modern, never reset": ours.replace(reset=0.0),
        "paper (Adagrad)": theirs,
        "paper, with resets": theirs.replace(reset=ours.reset),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--epochs", type=float, default=4.0)
    parser.add_argument("--device")
    parser.add_argument("--size", choices=get_args(Size), default="small")
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--only", nargs="+", help="some of the recipes, by name")
    arguments = parser.parse_args()
    store = CorpusStore.open(arguments.corpus)
    print(describe(store))
    print(f"{'':24s}{'carry':>8s}{'settled':>9s}{'zero':>8s}   held-out perplexity at each tenth of the run")
    for name, config in recipes(arguments.size).items():
        if arguments.only and name not in arguments.only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            run = config.replace(size=arguments.size, batch_size=arguments.batch_size, epochs=arguments.epochs)
            result = pretrain(store, run, folder, device=arguments.device, tensorboard=False)
            if result.model is None:
                raise SystemExit(f"{name}: stopped after {result.step:,} of {result.steps:,} steps ({result.status})")
            model = read_model(result.model)
            found = [
                store_perplexity(model, store, state=state, device=arguments.device).average
                for state in ("carry", "settled", "zero")
            ]
            curve = [line["average"] for line in read_metrics(Path(folder)) if line["kind"] == "heldout"]
            shown = "  ".join(f"{value:.0f}" for value in curve[1::2])
            print(f"{name:24s}{found[0]:8.2f}{found[1]:9.2f}{found[2]:8.2f}   {shown}", flush=True)


if __name__ == "__main__":
    main()

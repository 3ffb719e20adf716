"""The paper's recipe and ours on the same text, model and number of tokens, with and without resets of the state.

    python -m benchmarks.pretrain.compare_recipes CORPUS [--epochs 3] [--device cuda] [--rate 3e-3]

CORPUS is a corpus store. Perplexity is full-softmax, held out, average of both directions, for the three ways of
starting a sentence: from the state after the text before it, from the settled state, and from zero.
"""

import argparse
import tempfile
from pathlib import Path

from benchmarks.pretrain.beats_trigram import MODEL, describe
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.corpus import CorpusStore
from elmo.pretrain.loop import pretrain
from elmo.pretrain.metrics import read_metrics
from elmo.pretrain.perplexity import store_perplexity
from elmo.weights.formats import read_model

SAME = {"model": MODEL, "batch": 32, "loss": {"kind": "sampled", "samples": 4096}, "checkpoint_minutes": None}


def recipes(rate: float) -> dict[str, TrainConfig]:
    """What is compared, by name."""
    ours = TrainConfig.from_dict({**SAME, "optimizer": {"kind": "adam", "rate": rate}})
    paper = TrainConfig.recipe("paper").to_dict()
    theirs = TrainConfig.from_dict({**paper, "size": None, **SAME})
    return {
        "modern": ours,
        "modern, never reset": ours.replace(reset=0.0),
        "paper (Adagrad)": theirs,
        "paper, with resets": theirs.replace(reset=ours.reset),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--epochs", type=float, default=3.0)
    parser.add_argument("--device")
    parser.add_argument("--rate", type=float, default=3e-3)
    arguments = parser.parse_args()
    store = CorpusStore.open(arguments.corpus)
    print(describe(store))
    print(f"{'':24s}{'carry':>8s}{'settled':>9s}{'zero':>8s}   held-out perplexity at each tenth of the run")
    for name, config in recipes(arguments.rate).items():
        with tempfile.TemporaryDirectory() as folder:
            run = config.replace(epochs=arguments.epochs)
            result = pretrain(store, run, folder, device=arguments.device, tensorboard=False)
            assert result.model is not None
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

"""A biLM trained for some minutes on a CPU against an interpolated Kneser-Ney trigram model, on a million words.

    python -m benchmarks.pretrain.beats_trigram TEXT [--words 1000000] [--epochs 1.5] [--threads 2]

TEXT is raw text, a paragraph a line. Both models see the same split, the same vocabulary and the same symbols (words
and ends of sentences; a word outside the vocabulary is <UNK>), and both are measured in both directions.
"""

import argparse
import math
import tempfile
import time
from pathlib import Path

import torch

from benchmarks.pretrain.trigram import DISCOUNT, trigram_loss
from elmo.corpus import CorpusStore, build_corpus
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.pretraining import pretrain

# Far smaller than the small published size, so that a million words take minutes on two cores.
MODEL = {
    "tokens": {
        "kind": "characters",
        "embedding_dim": 16,
        "filters": [[1, 32], [2, 32], [3, 64], [4, 64]],
        "highways": 1,
        "output_dim": 64,
    },
    "lstm": {
        "input_dim": 64,
        "cell_dim": 256,
        "projection_dim": 64,
        "cell_clip": 3.0,
        "projection_clip": 3.0,
    },
}


def take_words(source: Path, target: Path, words: int) -> int:
    """Copy the first `words` words, whole lines."""
    taken = 0
    with open(source, encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as out:
        for line in lines:
            out.write(line)
            taken += len(line.split())
            if taken >= words:
                break
    return taken


def describe(store: CorpusStore) -> str:
    """The sizes of a store in a line."""
    train, heldout = store.counts["train"], store.counts["heldout"]
    return (
        f"train {train.words:,} words in {train.sentences:,} sentences, held out {heldout.words:,} in "
        f"{heldout.sentences:,}; vocabulary {len(store.vocabulary):,}, {store.types - 1:,} distinct words"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path)
    parser.add_argument("--words", type=int, default=1_000_000)
    parser.add_argument("--epochs", type=float, default=1.5)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    with tempfile.TemporaryDirectory() as folder:
        text, place = Path(folder, "text.txt"), Path(folder, "store")
        take_words(arguments.text, text, arguments.words)
        store = build_corpus([text], place, documents="lines", heldout=0.05, heldout_max_tokens=50_000, workers=2)
        print(f"{arguments.text.name}: {describe(store)}")
        config = TrainConfig.from_dict(
            {
                "model": MODEL,
                "batch_size": 32,
                "epochs": arguments.epochs,
                "dropout": 0.0,  # a text read once or twice is not learnt by heart
                "loss": {"kind": "sampled", "samples": 1024},
                "optimizer": {"kind": "muon", "learning_rate": 8e-3, "matrix_scale": 0.1},  # dev/log.md, "Muon"
                "evaluate_every": 1000,
                "evaluate_symbols": 10_000,
                "checkpoint_minutes": None,
            }
        )
        began, used = time.perf_counter(), time.process_time()
        result = pretrain(store, config, Path(folder, "run"), device="cpu", tensorboard=False)
        seconds, used = time.perf_counter() - began, time.process_time() - used
        assert result.perplexity is not None
        ours = result.perplexity
        losses = [trigram_loss(store, backward=backward) for backward in (False, True)]
        print("held-out perplexity (full vocabulary)            forward  backward   average")
        name = f"trigram, interpolated Kneser-Ney, discount {DISCOUNT}"
        print(f"{name:48s}{math.exp(losses[0]):8.2f}{math.exp(losses[1]):10.2f}{math.exp(sum(losses) / 2):10.2f}")
        name = f"biLM after {result.step:,} steps"
        print(f"{name:48s}{ours.forward:8.2f}{ours.backward:10.2f}{ours.average:10.2f}")
        print(
            f"training took {seconds / 60:.1f} minutes, {used / 60:.1f} minutes of processor time, with its evaluations"
        )
        print(
            f"out of vocabulary {100 * ours.unknown_rate:.2f} %; torch {torch.__version__}, {arguments.threads} threads"
        )
        assert ours.average < math.exp(sum(losses) / 2), "the biLM does not beat the trigram model"


if __name__ == "__main__":
    main()

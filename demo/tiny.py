"""The demonstration for a checkout without the packaged model: train a tiny one on generated text and look into it."""

import sys
from pathlib import Path

import torch
from grammar import sentences

import elmo
from elmo.embed.bulk import BulkOptions, embed_file
from elmo.embed.similarity import compare_word
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.corpus.build import build_corpus
from elmo.pretrain.loop import pretrain
from elmo.pretrain.optimizers import AdamConfig
from elmo.pretrain.score import substitutes
from elmo.weights.formats import read_model

OUTPUT = Path("demo-output")
FIRST = "Tom sat on the bank of the river ."
OTHERS = [
    "Tom sat on the bank of the river .",
    "my sister sat on the bank of the river .",
    "grass and willows grew on the bank beside the water .",
    "Anna took the cheque to the bank .",
    "the bank refused the loan .",
]
BLANK = ("Anna opened an account at the bank .", "account")


def train() -> Path:
    """The tiny model, trained once and kept."""
    model = OUTPUT / "run" / "model"
    if model.exists():
        return model
    OUTPUT.mkdir(exist_ok=True)
    text = OUTPUT / "text.txt"
    text.write_text("".join(line + "\n" for line in sentences(10_000, seed=0)), encoding="utf-8")
    build_corpus(text, OUTPUT / "corpus", tokenized=True, tokenizer="treebank", resume=True)
    optimizer = AdamConfig(rate=5e-3)
    config = TrainConfig.recipe("modern").replace(
        size="tiny", batch=64, epochs=1, evaluate_every=100, seed=1, optimizer=optimizer
    )
    print("training a tiny model on 10,000 generated sentences ...")
    result = pretrain(OUTPUT / "corpus", config, OUTPUT / "run", resume=True, device="cpu", tensorboard=False)
    if result.model is None or result.perplexity is None:
        sys.exit(f"{result.status} at step {result.step}; `make demo` again goes on from there")
    print(f"held-out perplexity of the tiny model: {result.perplexity.average:.1f}")
    return result.model


def demonstrate() -> None:
    """Train (once), and show one word in different sentences."""
    torch.set_num_threads(1)  # so small a model only loses time by sharing its work
    model = train()
    embedder = elmo.load(model)

    vectors = embedder.encode(["Tom sat on the bank of the river .", "Anna took the cheque to the bank ."])
    print(f"one vector for each word in its sentence: {[v.shape for v in vectors]}\n")

    print(f"the word bank in {FIRST!r}, compared with bank in (cosine by layer):")
    print(f"  {'':54s} tokens  LSTM 1  LSTM 2")
    for other in OTHERS:
        cosines = "  ".join(f"{c:6.2f}" for c in compare_word(embedder, ("bank", FIRST), ("bank", other)))
        print(f"  {other:54s} {cosines}")
    print("  (so small a model tells contexts apart, not yet meanings)\n")

    sentence, word = BLANK
    best = substitutes(read_model(model), sentence.split(), sentence.split().index(word), count=4, device="cpu")
    shown = ", ".join(f"{s.word} {s.score:.2f}" for s in best)
    print(f"what fits best in {sentence.replace(word, '____')!r}: {shown}")

    invented = compare_word(
        embedder, ("florbank", "Tom sat on the florbank of the river ."), ("bank", "Tom sat on the bank of the river .")
    )
    print(f"\na word nobody has seen has vectors too: florbank ~ bank {invented[-1]:.2f} (top layer)")

    output = OUTPUT / "vectors.hdf5"
    lines = embed_file(
        embedder, str(OUTPUT / "text.txt"), str(output), options=BulkOptions(tokenized=True), overwrite=True
    )
    print(f"{lines:,} lines embedded into {output}")

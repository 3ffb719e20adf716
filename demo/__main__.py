"""`make demo`: train a tiny model on generated text, then look at one word in different sentences. Offline."""

import logging
import time
from pathlib import Path

from grammar import sentences

import elmo
from elmo.embed.bulk import BulkOptions, embed_file
from elmo.embed.similarity import compare_word
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.corpus.build import build_corpus
from elmo.pretrain.loop import pretrain
from elmo.pretrain.optimizers import AdamConfig

OUTPUT = Path("demo-output")
PAIRS = [
    ("bank", "Tom sat on the bank of the river .", "the boat drifted to the muddy bank .", "same sense"),
    ("bank", "Tom sat on the bank of the river .", "Anna took the cheque to the bank .", "other sense"),
    ("play", "the actors forgot the play on the stage .", "Anna wrote a play for the theatre .", "same sense"),
    ("play", "the actors forgot the play on the stage .", "the boys play football in the park .", "other sense"),
    ("spring", "in spring the flowers bloom .", "the snow melts when spring comes .", "same sense"),
    ("spring", "in spring the flowers bloom .", "the metal spring in the clock broke .", "other sense"),
]


def train() -> Path:
    """The tiny model, trained once and kept."""
    model = OUTPUT / "run" / "model"
    if model.exists():
        return model
    OUTPUT.mkdir(exist_ok=True)
    text = OUTPUT / "text.txt"
    text.write_text("".join(line + "\n" for line in sentences(20_000, seed=0)), encoding="utf-8")
    build_corpus(text, OUTPUT / "corpus", tokenized=True, tokenizer="treebank", resume=True)
    optimizer = AdamConfig(rate=5e-3)
    config = TrainConfig.recipe("modern").replace(
        size="tiny", batch=64, epochs=1, evaluate_every=100, seed=1, optimizer=optimizer
    )
    print("training a tiny model on 20,000 generated sentences ...")
    result = pretrain(OUTPUT / "corpus", config, OUTPUT / "run", resume=True, device="cpu", tensorboard=False)
    assert result.model is not None
    print(f"held-out perplexity of the tiny model: {result.perplexity.average:.1f}")
    return result.model


def main() -> None:
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    started = time.perf_counter()
    model = train()
    embedder = elmo.load(model)

    vectors = embedder.encode(["Tom sat on the bank of the river .", "Anna took the cheque to the bank ."])
    print(f"one vector for each word in its sentence: {[v.shape for v in vectors]}\n")

    print("how alike is a word in two sentences (cosine)?")
    print(f"  {'':60s} tokens  LSTM 1  LSTM 2")
    for word, first, second, kind in PAIRS:
        cosines = "  ".join(f"{c:6.2f}" for c in compare_word(embedder, (word, first), (word, second)))
        print(f"  {word:7s} {kind:12s} {second:39s} {cosines}")

    invented = compare_word(
        embedder, ("florbank", "Tom sat on the florbank of the river ."), ("bank", "Tom sat on the bank of the river .")
    )
    print(f"\na word nobody has seen has vectors too: florbank ~ bank {invented[-1]:.2f} (top layer)")

    output = OUTPUT / "vectors.hdf5"
    lines = embed_file(
        embedder, str(OUTPUT / "text.txt"), str(output), options=BulkOptions(tokenized=True), overwrite=True
    )
    print(f"{lines:,} lines embedded into {output}")
    print(f"done in {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()

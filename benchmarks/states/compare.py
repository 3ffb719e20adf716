"""How far apart are the ways a sentence can start? Vectors and perplexity of one model on one text.

    python -m benchmarks.states.compare MODEL TEXT [--sentences 2000] [--tokenized]

Cosines are of each token's vector with the one that a carried state gives (a batch of one row, so that each sentence
follows the one before it in the text). Two settled states are compared: the one that the product uses, which reads
again and again only the token that a direction reads between sentences in training (`<S>` forward, `</S>` backward),
and one that reads both boundary tokens, as inference does. Perplexities need a model with a softmax.
"""

import argparse
from itertools import islice

import numpy as np
import torch

from elmo.embed.embedder import Embedder
from elmo.lm.perplexity import text_perplexity
from elmo.model.settled import MOST_TOKENS, STILL, store
from elmo.model.state import State
from elmo.text.textfiles import sentences_of_files
from elmo.weights.formats import read_model
from elmo.weights.loaded import LoadedModel


@torch.no_grad()
def settle_with_both(model: LoadedModel) -> None:
    """The fixed point of reading empty sentences, each of both boundary tokens."""
    bilm = model.bilm
    x = bilm.tokens(torch.from_numpy(model.boundary_rows()))[None]  # [1, 2, D]
    state, moved, sentences = bilm.zero_state(1), float("inf"), 0
    while moved > STILL and sentences < MOST_TOKENS // 2:
        _, after = bilm(x, torch.tensor([2]), state)
        moved = max(float((a - b).abs().max()) for a, b in zip(after, state, strict=True))
        state, sentences = State(*after), sentences + 1
    store(bilm, state)


def vectors(model: LoadedModel, sentences: list[list[str]], state: str) -> np.ndarray:
    """All tokens of all sentences: [L, tokens, D]."""
    embedder = Embedder(model, device="cpu", state=state)
    batch = 1 if state == "carry" else 64
    return np.concatenate(embedder.encode(sentences, layers="all", batch_size=batch, show_progress_bar=False), axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("text")
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--tokenized", action="store_true")
    arguments = parser.parse_args()
    model = read_model(arguments.model)
    text = sentences_of_files([arguments.text], model.tokenizer, tokenized=arguments.tokenized)
    sentences = list(islice(text, arguments.sentences))
    first = np.cumsum([0, *map(len, sentences[:-1])])  # the first token of each sentence
    carried = vectors(model, sentences, "carry")
    print(f"{len(sentences)} sentences, {carried.shape[1]} tokens")
    print("cosine with the vectors of the carried state: mean (5th percentile)")
    ways = {
        "settled": ("settled", model.settle),
        "settled, both tokens": ("settled", lambda: settle_with_both(model)),
        "zero": ("zero", lambda: None),
    }
    for name, (state, prepare) in ways.items():
        prepare()
        found = vectors(model, sentences, state)
        norms = np.linalg.norm(found, axis=-1) * np.linalg.norm(carried, axis=-1)
        cosines = (found * carried).sum(-1) / norms  # [L, tokens]
        shown = "  ".join(f"layer {n}: {c.mean():.4f} ({np.quantile(c, 0.05):.4f})" for n, c in enumerate(cosines) if n)
        print(f"{name:24s} {shown}  first token, top layer: {cosines[-1, first].mean():.4f}")
        show_perplexity(model, sentences, state)
    print("carry")
    show_perplexity(model, sentences, "carry")


def show_perplexity(model: LoadedModel, sentences: list[list[str]], state: str) -> None:
    if model.softmax is not None:
        found = text_perplexity(model, sentences, state=state, device="cpu")
        print(f"  perplexity {found.average:.2f} (forward {found.forward:.2f}, backward {found.backward:.2f})")


if __name__ == "__main__":
    main()

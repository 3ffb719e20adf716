"""How far int8 (or bfloat16) vectors are from float32 ones, on real text, and whether a classifier notices.

    python -m benchmarks.cpu.drift my-model --text sentences.txt

Cosine of each token's two vectors by layer (mean, and the worst token), and a linear probe: which of the most frequent
words came before this token? It is trained on float32 vectors of one half of the text and scored on the other half, on
float32 and on int8 vectors, so that the difference is what int8 costs a model that was trained without it.
"""

import argparse
import collections
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

import elmo

CLASSES = 100
STEPS = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--text", required=True, help="sentences, one a line, tokens with white space between")
    parser.add_argument("--tokens", type=int, default=10_000)
    parser.add_argument("--precision", choices=("int8", "bfloat16"), default="int8")
    arguments = parser.parse_args()
    sentences, count = [], 0
    for line in Path(arguments.text).read_text("utf-8").splitlines():
        if count < arguments.tokens and line.split():
            sentences.append(line.split())
            count += len(sentences[-1])
    exact, seconds = embed(arguments.model, "float32", sentences)
    rough, seconds8 = embed(arguments.model, arguments.precision, sentences)
    share = seconds8 / seconds
    print(f"{count} tokens, {len(exact)} layers; {arguments.precision} takes {share:.2f} of the CPU time of float32")
    places, targets = previous_words(sentences)
    for n, (one, other) in enumerate(zip(exact, rough, strict=True)):
        cosine = F.cosine_similarity(one, other, dim=-1)
        difference = (one - other).norm() / one.norm()
        line = f"layer {n}: cosine mean {cosine.mean():.5f}, worst {cosine.min():.5f}; relative error {difference:.4f}"
        scores = probe(one[places], other[places], targets)
        print(f"{line}; probe {scores[0]:.3f} with float32, {scores[1]:.3f} with {arguments.precision}")


def embed(model: str, dtype: str, sentences: list[list[str]]) -> tuple[torch.Tensor, float]:
    """All layers of all tokens [L, tokens, D], and the CPU time."""
    embedder = elmo.load(model, device="cpu", precision=dtype)
    start = time.process_time()
    vectors = embedder.encode(sentences, layers="all")
    return torch.from_numpy(np.concatenate(vectors, axis=1)), time.process_time() - start


def previous_words(sentences: list[list[str]]) -> tuple[torch.Tensor, torch.Tensor]:
    """The tokens whose predecessor is a frequent word, and the number of that word."""
    frequent = collections.Counter(word for sentence in sentences for word in sentence).most_common(CLASSES)
    number = {word: n for n, (word, _) in enumerate(frequent)}
    places, targets, at = [], [], 0
    for sentence in sentences:
        for n, before in enumerate(sentence[:-1]):
            if before in number:
                places.append(at + n + 1)
                targets.append(number[before])
        at += len(sentence)
    return torch.tensor(places), torch.tensor(targets)


def probe(exact: torch.Tensor, rough: torch.Tensor, targets: torch.Tensor) -> tuple[float, float]:
    """Accuracy on the second half, float32 and int8, of a linear classifier trained on the first half in float32."""
    half = len(targets) // 2
    mean, deviation = exact[:half].mean(0), exact[:half].std(0) + 1e-6
    exact, rough = (exact - mean) / deviation, (rough - mean) / deviation
    weight = torch.zeros(exact.shape[1], CLASSES, requires_grad=True)
    optimizer = torch.optim.Adam([weight], lr=0.01)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = F.cross_entropy(exact[:half] @ weight, targets[:half]) + 1e-4 * weight.square().sum()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        scores = [(x[half:] @ weight).argmax(-1).eq(targets[half:]).float().mean() for x in (exact, rough)]
    return float(scores[0]), float(scores[1])


if __name__ == "__main__":
    main()

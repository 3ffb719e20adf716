"""A linear classifier on each layer at once. [Belinkov et al. 2017; Peters et al. 2018, section 5.3]

B tokens of a step, L layers, D size of a vector, K labels.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F
from tqdm import tqdm

from elmo.embed.module import Elmo
from elmo.errors import ConfigError, InputError
from elmo.run.randomness import generator_for
from elmo.tasks.embedding.layercache import CachedLayers, LayerStore
from elmo.tasks.examples import Example
from elmo.tasks.task import check_labels

UNSEEN = -1  # a label that training does not have: never right


@dataclass(frozen=True, kw_only=True)
class ProbeConfig:
    """How the probes are trained; the same for every layer. The epoch best on dev counts, for each layer its own."""

    epochs: int = 20
    batch_size: int = 1024
    learning_rate: float = 2e-3
    weight_decay: float = 1e-5
    seed: int = 1

    def __post_init__(self) -> None:
        if min(self.epochs, self.batch_size) < 1 or self.learning_rate <= 0 or self.weight_decay < 0:
            raise ConfigError(
                "a probe's epochs and batch_size are at least 1, its learning_rate above 0, its weight_decay from 0"
            )


@dataclass(frozen=True)
class ProbeResult:
    """Accuracy in per cent for each layer."""

    dev: list[float]
    test: list[float] | None


class _Tokens:
    """All tokens of a file: layers, and labels [tokens]."""

    def __init__(self, elmo: Elmo, examples: Sequence[Example], ids: dict[str, int], store: LayerStore) -> None:
        sentences = [sentence for example in examples for sentence in example.texts[0].sentences]
        self.labels = torch.tensor([ids.get(tag, UNSEEN) for e in examples for tag in e.answer], device=elmo.device)
        found = store.layers(elmo, sentences)
        if found is None:
            raise InputError("the layers of the texts do not fit into memory; name a cache folder, or use fewer texts")
        self.layers: CachedLayers = found

    def vectors(self, tokens: Tensor) -> Tensor:
        """Of some tokens [B]: [L, B, D]."""
        return self.layers.gather(tokens[None])[:, 0]


def probe_layers(
    elmo: Elmo,
    train: Sequence[Example],
    dev: Sequence[Example],
    test: Sequence[Example] | None = None,
    *,
    config: ProbeConfig | None = None,
    store: LayerStore | None = None,
) -> ProbeResult:
    """Train a linear classifier of the tags on each layer, and score it on dev and test."""
    config, store = config or ProbeConfig(), store or LayerStore()
    ids = {tag: n for n, tag in enumerate(sorted({tag for e in train for tag in e.answer}))}
    learned = _Tokens(elmo, train, ids, store)
    for where, asked in (("dev", dev), ("test", test or ())):
        check_labels(sorted({tag for e in asked for tag in e.answer}), list(ids), where=where)
    judged = [_Tokens(elmo, part, ids, store) for part in (dev, test) if part is not None]
    L, D, K, device = elmo.layer_count, elmo.dim, len(ids), elmo.device
    mean, std = _moments(learned, config.batch_size)
    weight = torch.zeros(L, D, K, device=device, requires_grad=True)
    bias = torch.zeros(L, 1, K, device=device, requires_grad=True)
    optimizer = torch.optim.AdamW([weight, bias], lr=config.learning_rate, weight_decay=config.weight_decay)
    steps_an_epoch = -(-len(learned.labels) // config.batch_size)
    steps = config.epochs * steps_an_epoch
    best = [[0.0] * L for _ in judged]

    def logits(tokens: _Tokens, rows: Tensor) -> Tensor:
        x = (tokens.vectors(rows) - mean) / std  # [L, B, D]; still a linear classifier of the vectors
        return torch.baddbmm(bias, x, weight)  # [L, B, K]

    bar = tqdm(total=steps, desc="probe", unit="step", delay=1.0, disable=None)
    with bar, torch.enable_grad():
        for epoch in range(config.epochs):
            generator = generator_for("weights", seed=config.seed, step=epoch)
            order = torch.randperm(len(learned.labels), generator=generator).to(device)
            for n, rows in enumerate(order.split(config.batch_size)):
                for group in optimizer.param_groups:
                    group["lr"] = config.learning_rate * (1 - (epoch * steps_an_epoch + n) / steps)
                optimizer.zero_grad(set_to_none=True)
                targets = learned.labels[rows].expand(L, -1).reshape(-1)
                # The sum over layers of each one's mean: each layer learns as if it were alone.
                (L * F.cross_entropy(logits(learned, rows).reshape(-1, K), targets)).backward()
                optimizer.step()
                bar.update()
            with torch.no_grad():
                found = [_accuracies(tokens, logits, config.batch_size) for tokens in judged]
            for layer in range(L):
                if found[0][layer] > best[0][layer] or epoch == 0:
                    for part, scores in enumerate(found):
                        best[part][layer] = scores[layer]
    return ProbeResult(best[0], best[1] if len(judged) > 1 else None)


def _moments(tokens: _Tokens, batch: int) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of each number of each layer over all tokens: [L, 1, D] each."""
    total = square = torch.zeros(())
    count = len(tokens.labels)
    for rows in torch.arange(count, device=tokens.labels.device).split(batch):
        x = tokens.vectors(rows).double()
        total = total.to(x) + x.sum(1, keepdim=True)
        square = square.to(x) + x.square().sum(1, keepdim=True)
    mean = total / count
    std = (square / count - mean.square()).clamp_min(1e-12).sqrt()
    return mean.float(), std.float()


def _accuracies(tokens: _Tokens, logits: Callable[[_Tokens, Tensor], Tensor], batch: int) -> list[float]:
    right = torch.zeros((), device=tokens.labels.device)
    for rows in torch.arange(len(tokens.labels), device=tokens.labels.device).split(batch):
        right = right + (logits(tokens, rows).argmax(2) == tokens.labels[rows]).sum(1)  # [L]
    return (100 * right.double() / max(1, len(tokens.labels))).tolist()

"""A linear classifier on all layers of a frozen biLM, scored on dev: seconds where a task model takes minutes.

Tags: the layers of each token behind each other. A text: mean and maximum of those over its tokens. Two texts: both
means, their difference and product.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from elmo.embed.module import Elmo
from elmo.run.randomness import generator_for
from elmo.tasks.embedding.layercache import LayerStore
from elmo.tasks.examples import Example, Sentence
from elmo.tasks.task import Task
from elmo.weights.loaded import LoadedModel

EPOCHS, RATE, DECAY, DROPOUT = 10, 2e-3, 0.05, 0.3
STEPS_OF_AN_EPOCH, FEWEST_ROWS, MOST_ROWS = 64, 256, 4096


def probe_score(
    model: LoadedModel,
    task: Task,
    train: list[Example],
    dev: list[Example],
    *,
    device: str,
    seeds: int = 3,
) -> dict[str, float]:
    """The mean over seeds of the task's metric on dev, and of the losses on dev and on train."""
    elmo = Elmo(model, dropout=0.0).to(device).eval()
    ids = {label: n for n, label in enumerate(sorted({label for e in train for label in labels_of(e)}))}
    x, y = features(elmo, train), answers(train, ids, device)
    z, w = features(elmo, dev), answers(dev, ids, device)
    std, mean = torch.std_mean(x.float(), 0)
    rows = min(max(len(x) // STEPS_OF_AN_EPOCH, FEWEST_ROWS), MOST_ROWS)
    scores, losses = [], []
    for seed in range(1, seeds + 1):
        weight = torch.zeros(x.shape[1], len(ids), device=device, requires_grad=True)
        bias = torch.zeros(len(ids), device=device, requires_grad=True)
        scale = 1 / (std + 1e-6)
        optimizer = torch.optim.AdamW([weight, bias], lr=RATE, weight_decay=DECAY, fused=x.is_cuda)
        steps, step = EPOCHS * -(-len(x) // rows), 0
        dropout = torch.Generator(device=device).manual_seed(seed)
        for epoch in range(EPOCHS):
            order = torch.randperm(len(x), generator=generator_for("weights", seed=seed, step=epoch)).to(device)
            for part in order.split(rows):
                for group in optimizer.param_groups:
                    group["lr"] = RATE * (1 - step / steps)
                step += 1
                optimizer.zero_grad(set_to_none=True)
                seen = (x[part].float() - mean) * scale
                mask = torch.empty_like(seen).bernoulli_(1 - DROPOUT, generator=dropout).div_(1 - DROPOUT)
                F.cross_entropy((seen * mask) @ weight + bias, y[part]).backward()
                optimizer.step()
        with torch.no_grad():
            logits = torch.cat([((part.float() - mean) * scale) @ weight + bias for part in z.split(1 << 14)])
            known = w >= 0
            losses.append(float(F.cross_entropy(logits[known], w[known])))
            scores.append(score(task, dev, logits.argmax(1).tolist(), list(ids)))
    return {"score": sum(scores) / seeds, "dev_loss": sum(losses) / seeds}


def labels_of(example: Example) -> list[str]:
    """The tags of the tokens, or the one label."""
    return [example.answer] if isinstance(example.answer, str) else [str(label) for label in example.answer]


def answers(examples: list[Example], ids: dict[str, int], device: str) -> Tensor:
    """Label ids of all tokens or of all examples; -1 for a label that training does not have."""
    return torch.tensor([ids.get(label, -1) for e in examples for label in labels_of(e)], device=device)


def score(task: Task, dev: list[Example], found: list[int], labels: list[str]) -> float:
    """The task's metric for the label ids of all tokens or examples."""
    given: list[Any] = []
    place = 0
    for example in dev:
        if isinstance(example.answer, str):
            given.append(labels[found[place]])
            place += 1
        else:
            given.append(tuple(labels[n] for n in found[place : place + len(example.answer)]))
            place += len(example.answer)
    return task.score(dev, given)[task.metric]


@torch.no_grad()
def features(elmo: Elmo, examples: list[Example]) -> Tensor:
    """What the classifier reads: [tokens or examples, features], in 16 bits."""
    sentences: dict[Sentence, int] = {}
    for example in examples:
        for text in example.texts:
            for sentence in text.sentences:
                sentences.setdefault(sentence, len(sentences))
    layers = LayerStore().layers(elmo, list(sentences))
    assert layers is not None, "the layers do not fit into memory"
    starts = [0]
    for sentence in sentences:
        starts.append(starts[-1] + len(sentence))

    def tokens(example: Example, text: int) -> Tensor:
        own = [sentences[s] for s in example.texts[text].sentences]
        return torch.cat([torch.arange(starts[n], starts[n + 1]) for n in own])

    if not isinstance(examples[0].answer, str):
        places = torch.cat([tokens(e, 0) for e in examples])
        parts = [layers.gather(p[None].to(elmo.device))[:, 0] for p in places.split(1 << 14)]  # [L, B, D]
        return torch.cat([p.permute(1, 0, 2).flatten(1).half() for p in parts])
    rows = []
    for start in range(0, len(examples), 256):
        part = examples[start : start + 256]
        pooled = [_pool(layers, [tokens(e, n) for e in part], elmo.device) for n in range(len(part[0].texts))]
        if len(pooled) == 1:
            rows.append(torch.cat(pooled[0], 1).half())
        else:
            (a, _), (b, _) = pooled
            rows.append(torch.cat([a, b, (a - b).abs(), a * b], 1).half())
    return torch.cat(rows)


def _pool(layers: Any, places: list[Tensor], device: torch.device) -> tuple[Tensor, Tensor]:
    """Mean and maximum over the tokens of each text: [N, L * D] each."""
    padded = torch.nn.utils.rnn.pad_sequence(places, batch_first=True, padding_value=0).to(device)
    lengths = torch.tensor([len(p) for p in places], device=device)
    mask = (torch.arange(padded.shape[1], device=device) < lengths[:, None])[None, :, :, None]
    found = layers.gather(padded)  # [L, N, T, D]
    mean = (found * mask).sum(2) / lengths[:, None]
    most = found.masked_fill(~mask, -torch.inf).amax(2)
    return mean.transpose(0, 1).flatten(1), most.transpose(0, 1).flatten(1)

"""The README.md of a model trained here: data, hyper-parameters and perplexity."""

import json
from collections.abc import Sequence

from elmo.corpus.store import CorpusStore
from elmo.lm.perplexity import Perplexity
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.start import Start
from elmo.weights.card import front_matter, name_base


def training_card(
    config: TrainConfig,
    store: CorpusStore,
    *,
    step: int,
    start: Start | None = None,
    perplexities: Sequence[tuple[str, Perplexity]] = (),
) -> str:
    """Markdown. `perplexities` come with the name of what they were measured on."""
    manifest = store.manifest
    counts: dict[str, int] = {}
    for split, size in store.counts.items():
        counts |= {f"{name} ({split})": count for name, count in size._asdict().items()}
    counts |= {"distinct words": store.types - 1, "softmax vocabulary": len(store.vocabulary)}
    rows = "\n".join(f"| {name} | {value:,} |" for name, value in counts.items())
    measured = "\n".join(
        f"| {name} | {p.state} | {p.forward:.2f} | {'' if p.backward is None else f'{p.backward:.2f}'} "
        f"| {p.average:.2f} | {100 * p.unknown_rate:.2f} % | {p.symbols:,} |"
        for name, p in perplexities
    )
    language = (manifest.get("tokenizer") or {}).get("language")
    started = "" if start is None else f"Started from {start}, with its softmax; optimizer and schedule new.\n\n"
    base = "" if start is None else start.model
    return f"""{name_base(front_matter(language), base)}# ELMo model

A deep bidirectional language model (ELMo), trained with `elmo pretrain`.

## Data

| | |
|---|---|
{rows}

Sources: {json.dumps(manifest.get("sources", "not recorded"), ensure_ascii=False)}
Tokenizer: {json.dumps(manifest.get("tokenizer"), ensure_ascii=False)}

Licence of the data and of this model: to be filled in by whoever publishes it.

## Held-out perplexity (full softmax; words outside the vocabulary count as one class)

| text | state | forward | backward | average | out of vocabulary | symbols |
|---|---|---|---|---|---|---|
{measured}

## Training

{started}{step:,} steps with this configuration:

```json
{json.dumps(config.to_dict(), indent=1)}
```
"""

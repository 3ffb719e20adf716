"""The README.md of a model directory, for models that bring none: what it is, where it came from, how to use it."""

from typing import Any

from elmo.weights.loaded import LoadedModel


def front_matter(language: str | None) -> str:
    """What the Hugging Face Hub reads at the top of a card. The licence is for whoever publishes the model."""
    spoken = "" if language is None else f"language: {language.partition('-')[0].lower()}\n"
    return f"""---
{spoken}library_name: elmo
pipeline_tag: feature-extraction
tags:
- elmo
- bilm
- contextual-word-embeddings
---

"""


def default_card(model: LoadedModel, config: dict[str, Any]) -> str:
    """A card with all that the files themselves say. Data, licence and scores are for whoever trained the model."""
    lstm, tokens = model.config.lstm, model.config.tokens
    rows = {
        "Token input": tokens.kind,
        "LSTM layers": lstm.layers,
        "Cell size": lstm.cell_dim,
        "Output size of a direction": lstm.output_dim,
        "Directions": lstm.directions,
        "Encoder": lstm.kind,
        "Parameters": f"{model.parameter_count:,}",
        "Tokenizer rule": model.tokenizer.rule,
        "Vocabulary": f"{len(model.vocabulary):,} words" if model.vocabulary else "none",
        "Softmax": "none" if not model.has_softmax else "in a file of its own" if "softmax" in config else "included",
        "Storage": config["weights"]["storage"],
        "Weights (SHA-256 of the numbers)": f"`{config['weights']['content_sha256']}`",
        "Read from": f"`{model.source.rsplit('/', 1)[-1]}` ({model.format})" if model.source else "a training run",
    }
    table = "\n".join(f"| {name} | {value} |" for name, value in rows.items())
    return f"""{front_matter(model.tokenizer.language)}# ELMo model

A deep bidirectional language model (ELMo) in the format of `elmo-embeddings`.

| | |
|---|---|
{table}

Training data, licence, perplexity and task scores: not recorded.

```python
import elmo

embedder = elmo.load("path/to/this/directory")
vectors = embedder.encode(["I sat on the river bank ."])
```
"""

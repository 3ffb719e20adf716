"""The README.md of a model directory, for models that bring none: what it is, where it came from, how to use it."""

from typing import Any

from elmo.weights.choices import Storage
from elmo.weights.loaded import LoadedModel


def front_matter(language: str | None) -> str:
    """What the Hugging Face Hub reads at the top of a card. The licence is for whoever publishes the model."""
    spoken = "" if language is None else f"language: {language.partition('-')[0].lower()}\n"
    return f"""---
{spoken}{LIBRARY}pipeline_tag: feature-extraction
tags:
- elmo
- bilm
- contextual-word-embeddings
---

"""


LIBRARY = "library_name: elmo\n"
CONVERTED = "## Converted by `elmo convert`"
IN_TRANSFORMERS = """## In transformers

```python
import elmo.integrations.transformers  # registers ELMo; without it this folder is an unknown kind of model
from transformers import AutoModel, AutoTokenizer

model, tokenizer = AutoModel.from_pretrained("this/folder"), AutoTokenizer.from_pretrained("this/folder")
```

It needs `elmo-embeddings[transformers]`. `elmo.load("this/folder")` reads it, too.
"""


def converted_card(card: str | None, storage: Storage) -> str | None:
    """The card of the original, which speaks of its own file."""
    if card is None or CONVERTED in card:
        return card
    note = f"What is said above of storage, size and SHA-256 is of the original; this is {storage}."
    return f"{card.rstrip()}\n\n{CONVERTED}\n\n{note}\n"


def transformers_card(card: str) -> str:
    """A card that says how transformers reads the folder."""
    return card if IN_TRANSFORMERS in card else f"{card.rstrip()}\n\n{IN_TRANSFORMERS}"


def name_base(card: str, name: str) -> str:
    """A card whose front matter says that training went on from a model of the Hub, if its name is of one there."""
    if not name.startswith("hf:") or "\nbase_model: " in card:
        return card
    return card.replace(LIBRARY, f"{LIBRARY}base_model: {name.removeprefix('hf:').partition('@')[0]}\n", 1)


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

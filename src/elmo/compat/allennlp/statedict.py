"""The biLM in an AllenNLP state dict (a task model's `best.th`) under our names. No files here.

AllenNLP turns every matrix round, orders gates as torch does (input, forget, candidate, output), adds the forget gate's
1 to the bias, and negates the carry gate. [AllenNLP elmo.py and elmo_lstm.py, load_weights]
"""

from typing import Any

import torch
from torch import Tensor

from elmo.compat.rows import character_config
from elmo.model.architecture import BiLMConfig

CHARACTERS = "_token_embedder._char_embedding_weights"


def is_allennlps(state: dict[str, Any], prefix: str) -> bool:
    """Whether the weights under `prefix` have AllenNLP's names."""
    return f"{prefix}{CHARACTERS}" in state


def translated(state: dict[str, Any], prefix: str, config: BiLMConfig) -> dict[str, Tensor]:
    """Take AllenNLP's biLM out of `state` and give it as the tensors of a `BiLM`; what is missing stays missing."""
    tokens = character_config(config)

    def take(name: str) -> Tensor | None:
        tensor = state.pop(f"{prefix}{name}", None)
        return tensor if isinstance(tensor, Tensor) else None

    found = {"tokens.characters": take(CHARACTERS)}
    for i in range(len(tokens.filters)):
        filters = take(f"_token_embedder.char_conv_{i}.weight")  # [count, E, width]
        found[f"tokens.filters.{i}"] = None if filters is None else filters.permute(2, 1, 0)
        found[f"tokens.filter_biases.{i}"] = take(f"_token_embedder.char_conv_{i}.bias")
    for k in range(tokens.highways):
        for kind, name in (("weight", f"tokens.highways.{k}.weight"), ("bias", f"tokens.highways.{k}.bias")):
            both = take(f"_token_embedder._highways._layers.{k}.{kind}")  # [2F, F] or [2F]
            if both is not None:
                transform, carry = both.chunk(2)
                found[f"{name}_transform"] = transform.t()
                found[f"{name}_carry"] = -carry.t()
    found["tokens.weight_projection"] = _transposed(take("_token_embedder._projection.weight"))
    found["tokens.bias_projection"] = take("_token_embedder._projection.bias")
    for n in range(config.lstm.layers):
        directions = [_lstm(take, f"_elmo_lstm.{way}_layer_{n}") for way in ("forward", "backward")]
        for name in directions[0]:
            pair = [direction[name] for direction in directions]
            if all(tensor is not None for tensor in pair):
                found[f"lstm.layers.{n}.{name}"] = torch.stack(pair)  # type: ignore[arg-type]
    return {name: tensor.contiguous() for name, tensor in found.items() if tensor is not None}


def _lstm(take: Any, name: str) -> dict[str, Tensor | None]:
    bias = take(f"{name}.state_linearity.bias")
    if bias is not None:
        i, f, g, o = bias.chunk(4)
        bias = torch.cat([i, g, f - 1, o])
    return {
        "weight_x": _gates(take(f"{name}.input_linearity.weight")),
        "weight_h": _gates(take(f"{name}.state_linearity.weight")),
        "bias": bias,
        "weight_projection": _transposed(take(f"{name}.state_projection.weight")),
    }


def _gates(weight: Tensor | None) -> Tensor | None:
    """[4H, in], torch's order -> [in, 4H], TensorFlow's."""
    if weight is None:
        return None
    i, f, g, o = weight.chunk(4)
    return torch.cat([i, g, f, o]).t()


def _transposed(weight: Tensor | None) -> Tensor | None:
    return None if weight is None else weight.t()

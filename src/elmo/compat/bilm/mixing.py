"""bilm-tf's `weight_layers`: the learned mix of a biLM's layers, with TensorFlow's named variables as torch parameters.

N sentences, T tokens, L layers, D size of a vector.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from elmo.errors import ConfigError
from elmo.model.mix import normalize_over_batch

# What TensorFlow's default graph was to bilm-tf: one variable for a name, in every call that uses the name.
_variables: dict[str, nn.Parameter] = {}


def weight_layers(
    name: str,
    bilm_ops: Mapping[str, Any],
    l2_coef: float | None = None,
    use_top_only: bool = False,
    do_layer_norm: bool = False,
) -> dict[str, Any]:
    """Mix `lm_embeddings` [N, L, T, D] with the weights and the scale that belong to `name`.

    `weighted_op` is a tensor [N, T, D] that gradients flow through, `regularization_op` a list of one: `l2_coef` times
    the sum of the squared weights. With `use_top_only` it is the scaled top layer, never normalized, without weights,
    and the regularization is 0.0. Variables `{name}_ELMo_W` and `{name}_ELMo_gamma` are made at the first call with a
    name; see `trainable_variables`.
    """
    layers = torch.as_tensor(bilm_ops["lm_embeddings"]).transpose(0, 1)  # [L, N, T, D]
    mask = torch.as_tensor(bilm_ops["mask"])  # [N, T]
    gamma = _variable(f"{name}_ELMo_gamma", torch.ones(1))
    if use_top_only:
        return {"weighted_op": gamma * layers[-1], "regularization_op": 0.0}
    weights = _variable(f"{name}_ELMo_W", torch.zeros(len(layers)))
    if do_layer_norm:
        layers = torch.stack([normalize_over_batch(layer, mask) for layer in layers])
    fractions = torch.softmax(weights, dim=0)  # bilm-tf adds 1 / L to all, which changes nothing
    mixed = gamma * torch.einsum("l,lntd->ntd", fractions, layers)
    return {"weighted_op": mixed, "regularization_op": [(l2_coef or 0.0) * weights.square().sum()]}


def trainable_variables() -> dict[str, nn.Parameter]:
    """The variables of all mixes by name, for an optimizer, for saving, or to be set."""
    return dict(_variables)


def reset_variables() -> None:
    """Forget all variables, as `tf.reset_default_graph()` does."""
    _variables.clear()


def _variable(name: str, initial: Tensor) -> nn.Parameter:
    variable = _variables.setdefault(name, nn.Parameter(initial))
    if variable.shape != initial.shape:
        raise ConfigError(
            f"the variable {name} has {len(variable)} weights, but {len(initial)} layers are to be mixed; "
            "give this mix another name"
        )
    return variable

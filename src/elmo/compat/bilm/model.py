"""bilm-tf's `BidirectionalLanguageModel`, called on arrays of ids.

N sentences, T tokens, C characters in a row, L LSTM layers, D size of one direction.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.compat.reading import CarryingBiLM
from elmo.disk.guarded.plainfiles import read_json
from elmo.embed.batches import BOUNDARIES
from elmo.errors import ConfigError, InputError
from elmo.ops.where import name_of_device
from elmo.weights.arrays import BiLMArrays
from elmo.weights.bilmtf import layout
from elmo.weights.tensors import check_finite


class BidirectionalLanguageModel:
    """A biLM that reads character ids (of `Batcher`) or, with `use_character_inputs=False`, word ids (of
    `TokenBatcher`), whose vectors are in `embedding_weight_file`.

    Each call starts where the one before ended, row by row; `reset_states()` forgets. `max_batch_size` is there for old
    code: a batch may have any size. A GPU is used if there is one.
    """

    def __init__(
        self,
        options_file: str | os.PathLike[str],
        weight_file: str | os.PathLike[str],
        use_character_inputs: bool = True,
        embedding_weight_file: str | os.PathLike[str] | None = None,
        max_batch_size: int = 128,  # noqa: ARG002 - bilm-tf's argument
    ) -> None:
        if not use_character_inputs and embedding_weight_file is None:
            raise ConfigError(
                "use_character_inputs=False needs embedding_weight_file, which dump_token_embeddings writes"
            )
        arrays = read_bilm(
            Path(options_file),
            Path(weight_file),
            None if use_character_inputs or embedding_weight_file is None else Path(embedding_weight_file),
        )
        self.config = arrays.config
        self._bilm = CarryingBiLM(arrays, device=name_of_device(None))

    def reset_states(self) -> None:
        """Forget what was read before."""
        self._bilm.state.reset_states()

    def __call__(self, ids: npt.ArrayLike) -> dict[str, npt.NDArray[Any]]:
        """Ids with boundaries, [N, T + 2, C] or [N, T + 2] -> arrays, boundaries removed but for the token embeddings:

        `lm_embeddings` [N, L + 1, T, 2D], `lengths` [N], `mask` [N, T], `token_embeddings` [N, T + 2, D]. Where there
        is no token the LSTM layers are zero; layer 0 is what the character CNN makes of no characters.
        """
        rows = self._rows(np.asarray(ids))  # [N, T + 2, C]
        layers, vectors, lengths = self._bilm(rows)
        inner = np.maximum(lengths - BOUNDARIES, 0)
        steps = np.arange(max(0, rows.shape[1] - BOUNDARIES))
        mask = steps < inner[:, None]  # [N, T]
        return {
            "lm_embeddings": _without_boundaries(layers, steps, mask),
            "lengths": inner.astype(np.int32),
            "token_embeddings": vectors,
            "mask": mask,
        }

    def _rows(self, ids: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Ids as rows [N, T + 2, C]."""
        tokens = self.config.tokens
        wanted = "[sentences, tokens]" if tokens.reads_words else f"[sentences, tokens, {tokens.row_length}]"
        rows = ids[..., None] if tokens.reads_words else ids
        if rows.ndim != 3 or not np.issubdtype(ids.dtype, np.integer):
            raise InputError(f"ids are {ids.dtype} of shape {list(ids.shape)}; integers {wanted} are wanted")
        if rows.shape[2] != tokens.row_length:
            raise InputError(f"ids have shape {list(ids.shape)}; {wanted} is wanted")
        most = tokens.highest_id
        if rows.size and not (rows.min() >= 0 and rows.max() <= most):
            raise InputError(
                f"ids reach from {rows.min()} to {rows.max()}; 0 to {most} is wanted: "
                "were they made from the vocabulary of these files?"
            )
        return np.ascontiguousarray(rows)


def read_bilm(options: Path, weights: Path, embedding: Path | None = None) -> BiLMArrays:
    """The biLM of bilm-tf's files; with `embedding`, one that reads word ids, whose vocabulary need not be known."""
    words = None if embedding is None else layout.vocabulary_size(embedding, options=options)
    config = layout.config_from_options(read_json(options), words=words, where=str(options))
    tensors = layout.read_weights(weights, config, embedding=embedding)
    check_finite(tensors, where=str(weights))
    return BiLMArrays.of(config, tensors)


def _without_boundaries(
    layers: npt.NDArray[Any], steps: npt.NDArray[np.int64], mask: npt.NDArray[np.bool_]
) -> npt.NDArray[Any]:
    """[L + 1, N, T + 2, 2D] -> [N, L + 1, T, 2D]. Behind the last token, padding follows at once."""
    # A step inside comes from the place after the begin token; one behind skips the end token too. [_build_ops]
    source = steps + 1 + ~mask  # [N, T]
    rows = np.arange(len(mask))[:, None]
    return np.ascontiguousarray(layers.transpose(1, 2, 0, 3)[rows, source].swapaxes(1, 2))

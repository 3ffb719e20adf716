"""Texts of a request: sentences for the model on the way in, one array a text on the way out."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import numpy as np

from elmo.apps.server.batcher import Array, Batcher, size
from elmo.apps.server.refusals import wrong_value
from elmo.embed.choices import Layers
from elmo.embed.inputs import GivenText, read_texts
from elmo.errors import InputError
from elmo.text.tokenizer import Tokenizer

INLINE = 20_000  # characters that are tokenized at once; more of them in a thread, so that others are not kept waiting


async def tokenize(inputs: Sequence[Any], tokenizer: Tokenizer, *, split: bool, param: str) -> list[GivenText]:
    """Raw texts or token lists as sentences of tokens; a mixture is refused."""
    length = sum(len(one) if isinstance(one, str) else 8 * len(one) for one in inputs)
    try:
        if length <= INLINE:
            return read_texts(inputs, tokenizer, split=split)
        return await asyncio.to_thread(read_texts, inputs, tokenizer, split=split)
    except InputError as error:
        raise wrong_value(param, f"{param}: {error}") from None


def count_tokens(texts: Sequence[GivenText]) -> int:
    """What a request counts."""
    return sum(size(piece) for text in texts for piece in text.pieces)


async def embed(batcher: Batcher, texts: Sequence[GivenText], layers: Layers) -> AsyncIterator[list[Array]]:
    """The vectors of each text, [T, D] or [L, T, D], some texts at a time, in order."""
    wanted = [len(text.pieces) for text in texts]
    number = 0  # of the text that pieces are gathered for
    pieces: list[Array] = []
    async with batcher.job([piece for text in texts for piece in text.pieces], layers=layers) as job:
        async for found in job.batches():
            whole: list[Array] = []
            for vectors in found:
                pieces.append(vectors)
                if len(pieces) == wanted[number]:
                    whole.append(pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=-2))
                    pieces, number = [], number + 1
            if whole:
                yield whole


def mean(vectors: Array) -> Array:
    """The mean over tokens, zeros where there are none: [T, D] -> [D], as `encode(pooling="mean")`."""
    return vectors.mean(axis=0) if len(vectors) else np.zeros(vectors.shape[1], dtype=np.float32)


def normalized(vectors: Array) -> Array:
    """Every vector of length 1; a zero stays zero."""
    lengths = np.sqrt(np.sum(vectors * vectors, axis=-1, keepdims=True))
    scaled: Array = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32, copy=False)
    return scaled

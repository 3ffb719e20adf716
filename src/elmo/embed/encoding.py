"""`encode`: what a caller may give, what comes back for it, and every combination's type. Computes nothing itself."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union, Unpack, cast, overload

import numpy as np
import numpy.typing as npt

from elmo.embed.choices import Layers, Pooling, StoredDtype
from elmo.embed.inputs import read_texts
from elmo.embed.selection import check_layers, normalized, pool
from elmo.errors import ConfigError, needing_torch
from elmo.text.tokens import Tokens
from elmo.weights.loaded import LoadedModel

if TYPE_CHECKING:
    from torch import Tensor

Array = npt.NDArray[np.floating[Any]]
Vectors = Union[Array, "Tensor", list[Array], list["Tensor"]]
Words = Tokens | list[Tokens] | list[list[str]]  # the tokens of a text, of each text, or as they were given


class EncodeOptions(TypedDict, total=False):
    """The options of `encode` that do not change the type of what comes back."""

    layers: Layers
    batch_size: int | None
    show_progress_bar: bool | None
    normalize: bool
    split_sentences: bool
    dtype: StoredDtype | None


class Encoding(ABC):
    """`encode` over `embed_tokens`."""

    model: LoadedModel

    @property
    @abstractmethod
    def dim(self) -> int:
        """Size of one token's vector."""

    @property
    @abstractmethod
    def layer_count(self) -> int:
        """How many layers `layers="all"` gives."""

    @property
    @abstractmethod
    def vector_dtype(self) -> str:
        """The type of the vectors that come out."""

    @abstractmethod
    def embed_tokens(
        self,
        sentences: Sequence[Sequence[str]],
        *,
        layers: Layers,
        texts: Sequence[int] | None = None,
        dtype: StoredDtype | None = None,
        batch_size: int | None = None,
        show_progress_bar: bool | None = None,
    ) -> list[Array]:
        """Token lists to an array [T, D] or [L, T, D] each; so many sentences to one array as `texts` says."""

    @overload
    def encode(  # type: ignore[overload-overlap]
        self,
        sentences: str,
        *,
        pooling: Pooling | None = None,
        convert_to_numpy: Literal[True] = True,
        return_tokens: Literal[False] = False,
        **options: Unpack[EncodeOptions],
    ) -> Array: ...

    @overload
    def encode(
        self,
        sentences: Iterable[str] | Iterable[Sequence[str]],
        *,
        pooling: None = None,
        convert_to_numpy: Literal[True] = True,
        return_tokens: Literal[False] = False,
        **options: Unpack[EncodeOptions],
    ) -> list[Array]: ...

    @overload
    def encode(
        self,
        sentences: Iterable[str] | Iterable[Sequence[str]],
        *,
        pooling: Pooling,
        convert_to_numpy: Literal[True] = True,
        return_tokens: Literal[False] = False,
        **options: Unpack[EncodeOptions],
    ) -> Array: ...

    @overload
    def encode(  # type: ignore[overload-overlap]
        self,
        sentences: str,
        *,
        pooling: Pooling | None = None,
        convert_to_numpy: Literal[False],
        return_tokens: Literal[False] = False,
        **options: Unpack[EncodeOptions],
    ) -> "Tensor": ...

    @overload
    def encode(
        self,
        sentences: Iterable[str] | Iterable[Sequence[str]],
        *,
        pooling: None = None,
        convert_to_numpy: Literal[False],
        return_tokens: Literal[False] = False,
        **options: Unpack[EncodeOptions],
    ) -> "list[Tensor]": ...

    @overload
    def encode(
        self,
        sentences: Iterable[str] | Iterable[Sequence[str]],
        *,
        pooling: Pooling,
        convert_to_numpy: Literal[False],
        return_tokens: Literal[False] = False,
        **options: Unpack[EncodeOptions],
    ) -> "Tensor": ...

    @overload
    def encode(  # type: ignore[overload-overlap]
        self,
        sentences: str,
        *,
        pooling: Pooling | None = None,
        convert_to_numpy: Literal[True] = True,
        return_tokens: Literal[True],
        **options: Unpack[EncodeOptions],
    ) -> tuple[Array, Tokens]: ...

    @overload
    def encode(  # type: ignore[overload-overlap]
        self,
        sentences: Iterable[str],
        *,
        pooling: None = None,
        convert_to_numpy: Literal[True] = True,
        return_tokens: Literal[True],
        **options: Unpack[EncodeOptions],
    ) -> tuple[list[Array], list[Tokens]]: ...

    @overload
    def encode(  # type: ignore[overload-overlap]
        self,
        sentences: Iterable[str],
        *,
        pooling: Pooling,
        convert_to_numpy: Literal[True] = True,
        return_tokens: Literal[True],
        **options: Unpack[EncodeOptions],
    ) -> tuple[Array, list[Tokens]]: ...

    @overload
    def encode(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        pooling: None = None,
        convert_to_numpy: Literal[True] = True,
        return_tokens: Literal[True],
        **options: Unpack[EncodeOptions],
    ) -> tuple[list[Array], list[list[str]]]: ...

    @overload
    def encode(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        pooling: Pooling,
        convert_to_numpy: Literal[True] = True,
        return_tokens: Literal[True],
        **options: Unpack[EncodeOptions],
    ) -> tuple[Array, list[list[str]]]: ...

    @overload
    def encode(  # type: ignore[overload-overlap]
        self,
        sentences: str,
        *,
        pooling: Pooling | None = None,
        convert_to_numpy: Literal[False],
        return_tokens: Literal[True],
        **options: Unpack[EncodeOptions],
    ) -> "tuple[Tensor, Tokens]": ...

    @overload
    def encode(  # type: ignore[overload-overlap]
        self,
        sentences: Iterable[str],
        *,
        pooling: None = None,
        convert_to_numpy: Literal[False],
        return_tokens: Literal[True],
        **options: Unpack[EncodeOptions],
    ) -> "tuple[list[Tensor], list[Tokens]]": ...

    @overload
    def encode(  # type: ignore[overload-overlap]
        self,
        sentences: Iterable[str],
        *,
        pooling: Pooling,
        convert_to_numpy: Literal[False],
        return_tokens: Literal[True],
        **options: Unpack[EncodeOptions],
    ) -> "tuple[Tensor, list[Tokens]]": ...

    @overload
    def encode(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        pooling: None = None,
        convert_to_numpy: Literal[False],
        return_tokens: Literal[True],
        **options: Unpack[EncodeOptions],
    ) -> "tuple[list[Tensor], list[list[str]]]": ...

    @overload
    def encode(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        pooling: Pooling,
        convert_to_numpy: Literal[False],
        return_tokens: Literal[True],
        **options: Unpack[EncodeOptions],
    ) -> "tuple[Tensor, list[list[str]]]": ...

    @overload
    def encode(
        self,
        sentences: str | Iterable[str] | Iterable[Sequence[str]],
        *,
        pooling: Pooling | None = None,
        convert_to_numpy: bool = True,
        return_tokens: bool = False,
        **options: Unpack[EncodeOptions],
    ) -> Vectors | tuple[Vectors, Words]: ...

    def encode(
        self,
        sentences: str | Iterable[str] | Iterable[Sequence[str]],
        *,
        layers: Layers = "mean",
        pooling: Pooling | None = None,
        batch_size: int | None = None,
        show_progress_bar: bool | None = None,
        convert_to_numpy: bool = True,
        normalize: bool = False,
        return_tokens: bool = False,
        split_sentences: bool = True,
        dtype: StoredDtype | None = None,
    ) -> Vectors | tuple[Vectors, Words]:
        """Vectors for each token of each sentence.

        `sentences`: a `str` is raw text and gives one result; a list of `str` is raw texts, tokenized by the model's
        rule; a list of lists of `str` is tokens, each list one sentence, taken as they are.
        `split_sentences`: a raw text may have several sentences. They are embedded one by one, and the vectors of all
        tokens of the text come back in one result. With False each text is one sentence.
        `layers`: the mean of all layers, the top one, all of them, or one by its number (0: the tokens, -1: the top).
        Without `pooling`: a list of [T, D] (or [L, T, D] for "all"), one row a token. With it: one array [N, D]
        (or [N, L, D]), the mean or the maximum over a text's tokens (zeros where it has none).
        `normalize` scales every vector to length 1. `show_progress_bar=None` shows a bar on a terminal after a second.
        Vectors are float32 (float64 in that precision), or `dtype`: "float32" or "float16", which a GPU converts to
        before it hands them over. They are tensors with `convert_to_numpy=False`, which needs torch. Without `pooling`
        those of one call are views of one large array; copy what is to be kept of it for long.
        `return_tokens=True` gives a pair: the vectors, and each text's tokens, a `Tokens` (a sequence of words, with
        `words`, `starts` and `offsets` in characters of the raw text, and `sentence_starts`), or the list of tokens
        that was given. `batch_size` is sentences, at most: 64, and 1024 on a GPU, if it is None.
        """
        check_layers(layers, self.layer_count)
        if pooling not in (None, "mean", "max"):
            raise ConfigError(f"pooling is {pooling!r}; it must be 'mean', 'max' or None")
        if batch_size is not None and batch_size < 1:
            raise ConfigError(f"batch_size is {batch_size}; it must be at least 1")
        if dtype not in (None, "float32", "float16"):
            raise ConfigError(f"dtype is {dtype!r}; it must be 'float32', 'float16' or None")
        single = isinstance(sentences, str)
        texts = read_texts(sentences, self.model.tokenizer, split=split_sentences)
        # What is computed from vectors is computed from those of full precision.
        at_once = dtype if pooling is None and not normalize else None
        results = self.embed_tokens(
            [piece for text in texts for piece in text.pieces],
            layers=layers,
            texts=[len(text.pieces) for text in texts],
            dtype=at_once,
            batch_size=batch_size,
            show_progress_bar=show_progress_bar,
        )
        if pooling is not None:
            results = [pool(result, pooling) for result in results]
        if normalize:
            results = [normalized(result) for result in results]
        if dtype != at_once:
            results = [result.astype(dtype, copy=False) for result in results]
        output: Vectors
        if single:
            output = results[0]
        elif pooling is not None:
            size = (0, *((self.layer_count,) if layers == "all" else ()), self.dim)
            empty = np.zeros(size, dtype or self.vector_dtype)
            output = np.stack(results) if results else empty
        else:
            output = results
        if not convert_to_numpy:
            output = _as_tensors(output)
        if not return_tokens:
            return output
        tokens = [text.tokens for text in texts]
        return output, cast(Words, tokens[0] if single else tokens)  # all of one kind: `read_sentences` sees to it


def _as_tensors(vectors: Array | list[Array]) -> "Tensor | list[Tensor]":
    """The same memory as torch's tensors."""
    with needing_torch("convert_to_numpy=False"):
        import torch
    if isinstance(vectors, list):
        return [torch.from_numpy(array) for array in vectors]
    return torch.from_numpy(vectors)

"""scikit-learn: `ElmoVectorizer`, texts to rows of numbers, for pipelines, grids and column transformers."""

import contextlib
import functools
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

import elmo
from elmo.disk.stamps import Stamp, stamp_of
from elmo.embed.choices import Layers, Pooling, Precision
from elmo.errors import ConfigError, InputError, WeightsError
from elmo.integrations.extras import missing
from elmo.weights.formats import find_in
from elmo.weights.published.packaged import DEFAULT, packaged_directory

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
except ImportError as error:
    raise missing("sklearn", library="scikit-learn", extra="sklearn") from error

MODELS_KEPT = 2  # in a process; the clones of a grid search share one
FILES = "_files"  # in a pickle


class ElmoVectorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """One vector a text: the mean (or maximum) over its tokens, as `encode` gives it. Nothing is learned.

    `model`, `device`, `precision`, `num_threads`: as in `elmo.load`. `layers`, `pooling`, `normalize`,
    `split_sentences`, `batch_size`: as in `Embedder.encode`; `layers="all"` puts a text's layers one behind the other.
    The model is loaded when it is first needed and is no part of a pickle.
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | None = None,
        *,
        layers: Layers = "mean",
        pooling: Pooling = "mean",
        normalize: bool = False,
        split_sentences: bool = True,
        batch_size: int | None = None,
        device: str | None = None,
        precision: Precision | None = None,
        num_threads: int | None = None,
    ) -> None:
        self.model = model
        self.layers = layers
        self.pooling = pooling
        self.normalize = normalize
        self.split_sentences = split_sentences
        self.batch_size = batch_size
        self.device = device
        self.precision = precision
        self.num_threads = num_threads

    def fit(self, X: Any = None, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Load the model and check the options; the texts themselves are not looked at."""
        if X is not None:
            _refuse_what_is_no_list(X)
        self._encode([])
        return self

    def transform(self, X: Any) -> npt.NDArray[np.float32]:
        """Texts, or token lists (a list, an array or a Series of them), to [texts, features]."""
        _refuse_what_is_no_list(X)
        return self._encode([_document(n, document) for n, document in enumerate(X)])

    def _encode(self, documents: list[Any]) -> npt.NDArray[np.float32]:
        if self.pooling not in ("mean", "max"):
            raise ValueError(f"pooling is {self.pooling!r}; one vector a text is wanted, so it must be 'mean' or 'max'")
        try:
            vectors = self._embedder().encode(
                documents,
                layers=self.layers,
                pooling=self.pooling,
                normalize=self.normalize,
                split_sentences=self.split_sentences,
                batch_size=self.batch_size,
                show_progress_bar=False,
            )
        except (ConfigError, InputError) as error:
            raise ValueError(str(error)) from error  # what the callers of an estimator catch
        return vectors.reshape(len(documents), self._n_features_out)

    @property
    def _n_features_out(self) -> int:
        embedder = self._embedder()
        return embedder.dim * (embedder.layer_count if self.layers == "all" else 1)

    def _embedder(self) -> elmo.Embedder:
        return _load(self._name, self.device, self.precision, self.num_threads, _stamp(self._name))

    @property
    def _name(self) -> str | None:
        return None if self.model is None else str(self.model)

    def __getstate__(self) -> dict[str, Any]:
        # What a pipeline keeps (`memory=`) is found by the hash of this: another model at the same path is another key.
        return {**super().__getstate__(), FILES: _stamp(self._name)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({key: value for key, value in state.items() if key != FILES})

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.requires_fit = False
        tags.no_validation = True
        return tags


@functools.lru_cache(maxsize=MODELS_KEPT)
def _load(
    model: str | None, device: str | None, precision: Precision | None, num_threads: int | None, _: object
) -> elmo.Embedder:
    return elmo.load(model, device=device, precision=precision, num_threads=num_threads)


def _stamp(model: str | None) -> Stamp:
    """What changes when another model is written to the same path; models of a name stay what they are."""
    if model is None or model == DEFAULT:
        return stamp_of(packaged_directory())
    with contextlib.suppress(WeightsError, RuntimeError):  # none that can be read, a home that nobody has
        path = Path(model).expanduser()
        if path.exists():
            return stamp_of(find_in(path).path)
    return ()


def _refuse_what_is_no_list(X: Any) -> None:
    if isinstance(X, (str, bytes)):
        # The words of scikit-learn's own vectorizers.
        raise ValueError("Iterable over raw text documents expected, string object received.")
    if getattr(X, "ndim", 1) != 1:
        raise ValueError(
            f"Expected 1D array of texts, got {X.ndim}D array of shape {tuple(X.shape)} instead; "
            "choose one column, X['text'] for example"
        )
    if not isinstance(X, Iterable):
        raise ValueError(f"Iterable over raw text documents expected, {type(X).__name__} object received.")


def _document(n: int, document: Any) -> str | list[str]:
    if isinstance(document, str):
        return str(document)  # also NumPy's own kind of it
    if isinstance(document, (list, tuple, np.ndarray)):
        return list(document)
    raise ValueError(
        f"document {n} is {document!r} ({type(document).__name__}); a text or a list of tokens is wanted "
        "(missing texts: X.fillna(''))"
    )

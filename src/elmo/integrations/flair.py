"""Flair: `ELMoEmbeddings` under its old name and arguments, over any model of this library.

Flair needs transformers below 5, so that it lives in an environment without `elmo.integrations.transformers`.
"""

from typing import Any, Literal

import elmo
from elmo.integrations.extras import missing

try:
    import flair
    from flair.data import Sentence
    from flair.embeddings import TokenEmbeddings
    from flair.embeddings.base import register_embeddings
except ImportError as error:
    raise missing("flair", library="Flair", extra="flair") from error

# The names that Flair's own class had. [flair 0.15 embeddings/legacy.py]
NAMES = {"large": "original-5.5b", "5.5B": "original-5.5b", "portuguese": "pt"}
LAYERS: dict[str, Literal["all", "top", "mean"]] = {"all": "all", "top": "top", "average": "mean"}


@register_embeddings
class ELMoEmbeddings(TokenEmbeddings):
    """ELMo's vectors for Flair's tokens.

    `model`: a name or a path, as in `elmo.load`, or one of Flair's old names ("original", "small", "medium", "large",
    "5.5B", "pt", "pubmed"); the packaged English model if none. `embedding_mode`: "all" layers one behind the other,
    the "top" one, or their "average". The biLM is no part of a saved tagger: its name is.
    """

    def __init__(
        self,
        model: str | None = None,
        embedding_mode: Literal["all", "top", "average"] = "all",
        *,
        name: str | None = None,
        precision: Literal["float32", "float64", "int8", "bfloat16", "float16"] | None = None,
    ) -> None:
        if embedding_mode not in LAYERS:
            raise ValueError(f"embedding_mode is {embedding_mode!r}; it must be one of {', '.join(LAYERS)}")
        self.name = name or f"elmo-{model or 'english'}-{embedding_mode}"
        self.static_embeddings = True
        super().__init__()
        self.model, self.embedding_mode, self.precision = model, embedding_mode, precision
        source = NAMES.get(model, model) if model is not None else None
        self._embedder = elmo.load(source, precision=precision, device=str(flair.device))

    @property
    def embedding_length(self) -> int:
        """Numbers of a token's vector."""
        return self._embedder.dim * (self._embedder.layer_count if self.embedding_mode == "all" else 1)

    def _add_embeddings_internal(self, sentences: list[Sentence]) -> None:
        words = [[token.text for token in sentence] for sentence in sentences]
        layers = LAYERS[self.embedding_mode]
        found = self._embedder.encode(words, layers=layers, convert_to_numpy=False, show_progress_bar=False)
        for sentence, vectors in zip(sentences, found, strict=True):
            rows = vectors.transpose(0, 1).flatten(1) if layers == "all" else vectors
            for token, row in zip(sentence, rows.to(flair.device), strict=True):
                token.set_embedding(self.name, row)

    def to_params(self) -> dict[str, Any]:
        """What a saved tagger keeps of it."""
        return {
            "model": self.model,
            "embedding_mode": self.embedding_mode,
            "name": self.name,
            "precision": self.precision,
        }

    @classmethod
    def from_params(cls, params: dict[str, Any]) -> "ELMoEmbeddings":
        """The same again, from what was kept."""
        return cls(**params)

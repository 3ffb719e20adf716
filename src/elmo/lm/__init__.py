"""The language model: a biLM with its softmax; perplexity, scores, substitutes. No training."""

from typing import TYPE_CHECKING, Any

from elmo.errors import imported

if TYPE_CHECKING:
    from elmo.lm.perplexity import Perplexity, store_perplexity, text_perplexity
    from elmo.lm.score import Substitute, TokenScore, score_sentences, substitutes

__all__ = [
    "Perplexity",
    "Substitute",
    "TokenScore",
    "score_sentences",
    "store_perplexity",
    "substitutes",
    "text_perplexity",
]

# Loaded on first use, so that commands which only need a part do not wait for torch.
_HOMES = {
    "Perplexity": "elmo.lm.perplexity",
    "Substitute": "elmo.lm.score",
    "TokenScore": "elmo.lm.score",
    "score_sentences": "elmo.lm.score",
    "store_perplexity": "elmo.lm.perplexity",
    "substitutes": "elmo.lm.score",
    "text_perplexity": "elmo.lm.perplexity",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return imported(_HOMES[name], name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])

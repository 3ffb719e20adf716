"""The language model: a biLM with its softmax; perplexity, scores, substitutes. No training."""

from typing import TYPE_CHECKING

from elmo.lazy import loaded_on_use

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

__getattr__, __dir__ = loaded_on_use(
    __name__,
    {
        "Perplexity": "elmo.lm.perplexity",
        "Substitute": "elmo.lm.score",
        "TokenScore": "elmo.lm.score",
        "score_sentences": "elmo.lm.score",
        "store_perplexity": "elmo.lm.perplexity",
        "substitutes": "elmo.lm.score",
        "text_perplexity": "elmo.lm.perplexity",
    },
)

"""Looking into a model: words in context and their neighbours, senses, pictures. And the sentences written for it."""

from typing import TYPE_CHECKING, Any

from elmo.errors import imported

if TYPE_CHECKING:
    from elmo.analysis.examples import Use, read_collection, read_senses
    from elmo.analysis.heatmap import SentencePair, compare_sentences, draw_pair
    from elmo.analysis.mixes import draw_mixes, read_mixes
    from elmo.analysis.neighbors import Neighbor, Question, answer_questions, find_neighbors
    from elmo.analysis.picture import draw_spots, spots_of_senses, spots_of_words
    from elmo.analysis.projection import principal_plane
    from elmo.analysis.senses import SenseCount, count_senses, fraction_right, vectors_of_uses
    from elmo.analysis.similarity import compare_word

__all__ = [
    "Neighbor",
    "Question",
    "SenseCount",
    "SentencePair",
    "Use",
    "answer_questions",
    "compare_sentences",
    "compare_word",
    "count_senses",
    "draw_mixes",
    "draw_pair",
    "draw_spots",
    "find_neighbors",
    "fraction_right",
    "principal_plane",
    "read_collection",
    "read_mixes",
    "read_senses",
    "spots_of_senses",
    "spots_of_words",
    "vectors_of_uses",
]

# Loaded on first use, so that commands which only need a part do not wait for torch.
_HOMES = {
    "Neighbor": "elmo.analysis.neighbors",
    "Question": "elmo.analysis.neighbors",
    "SenseCount": "elmo.analysis.senses",
    "SentencePair": "elmo.analysis.heatmap",
    "Use": "elmo.analysis.examples",
    "answer_questions": "elmo.analysis.neighbors",
    "compare_sentences": "elmo.analysis.heatmap",
    "compare_word": "elmo.analysis.similarity",
    "count_senses": "elmo.analysis.senses",
    "draw_mixes": "elmo.analysis.mixes",
    "draw_pair": "elmo.analysis.heatmap",
    "draw_spots": "elmo.analysis.picture",
    "find_neighbors": "elmo.analysis.neighbors",
    "fraction_right": "elmo.analysis.senses",
    "principal_plane": "elmo.analysis.projection",
    "read_collection": "elmo.analysis.examples",
    "read_mixes": "elmo.analysis.mixes",
    "read_senses": "elmo.analysis.examples",
    "spots_of_senses": "elmo.analysis.picture",
    "spots_of_words": "elmo.analysis.picture",
    "vectors_of_uses": "elmo.analysis.senses",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return imported(_HOMES[name], name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])

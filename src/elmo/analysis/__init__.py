"""Looking into a model: words in context and their neighbours, senses, pictures. And the sentences written for it."""

from typing import TYPE_CHECKING

from elmo.lazy import loaded_on_use

if TYPE_CHECKING:
    from elmo.analysis.clusters import cluster_vectors
    from elmo.analysis.examples import Use, read_collection, read_senses
    from elmo.analysis.heatmap import SentencePair, compare_sentences, draw_pair
    from elmo.analysis.indexcollection import IndexCollection
    from elmo.analysis.mixes import draw_mixes, read_mixes
    from elmo.analysis.neighbors import Neighbor, Question, answer_questions, find_neighbors
    from elmo.analysis.picture import draw_spots, spots_of_senses, spots_of_words
    from elmo.analysis.projection import aligned_planes, principal_plane
    from elmo.analysis.senses import SenseCount, count_senses, fraction_right, vectors_of_uses
    from elmo.analysis.similarity import compare_word
    from elmo.analysis.textcollection import TextCollection
    from elmo.analysis.uses import Uses, find_uses

__all__ = [
    "IndexCollection",
    "Neighbor",
    "Question",
    "SenseCount",
    "SentencePair",
    "TextCollection",
    "Use",
    "Uses",
    "aligned_planes",
    "answer_questions",
    "cluster_vectors",
    "compare_sentences",
    "compare_word",
    "count_senses",
    "draw_mixes",
    "draw_pair",
    "draw_spots",
    "find_neighbors",
    "find_uses",
    "fraction_right",
    "principal_plane",
    "read_collection",
    "read_mixes",
    "read_senses",
    "spots_of_senses",
    "spots_of_words",
    "vectors_of_uses",
]

__getattr__, __dir__ = loaded_on_use(
    __name__,
    {
        "IndexCollection": "elmo.analysis.indexcollection",
        "Neighbor": "elmo.analysis.neighbors",
        "Question": "elmo.analysis.neighbors",
        "SenseCount": "elmo.analysis.senses",
        "TextCollection": "elmo.analysis.textcollection",
        "SentencePair": "elmo.analysis.heatmap",
        "Use": "elmo.analysis.examples",
        "Uses": "elmo.analysis.uses",
        "aligned_planes": "elmo.analysis.projection",
        "answer_questions": "elmo.analysis.neighbors",
        "cluster_vectors": "elmo.analysis.clusters",
        "compare_sentences": "elmo.analysis.heatmap",
        "compare_word": "elmo.analysis.similarity",
        "count_senses": "elmo.analysis.senses",
        "draw_mixes": "elmo.analysis.mixes",
        "draw_pair": "elmo.analysis.heatmap",
        "draw_spots": "elmo.analysis.picture",
        "find_neighbors": "elmo.analysis.neighbors",
        "find_uses": "elmo.analysis.uses",
        "fraction_right": "elmo.analysis.senses",
        "principal_plane": "elmo.analysis.projection",
        "read_collection": "elmo.analysis.examples",
        "read_mixes": "elmo.analysis.mixes",
        "read_senses": "elmo.analysis.examples",
        "spots_of_senses": "elmo.analysis.picture",
        "spots_of_words": "elmo.analysis.picture",
        "vectors_of_uses": "elmo.analysis.senses",
    },
)

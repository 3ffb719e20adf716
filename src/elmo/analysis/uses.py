"""The uses of a word in a collection, as pictures and tables show them: their plane, likeness and clusters by layer.

N uses, L layers, D dimensions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from elmo.analysis.clusters import Labels, cluster_vectors, silhouette
from elmo.analysis.collection import Collection, Passage, Place
from elmo.analysis.neighbors import Neighbor
from elmo.analysis.projection import aligned_planes
from elmo.analysis.similarity import cosines
from elmo.errors import InputError

Floats = npt.NDArray[np.floating]

CLUSTERS = range(2, 7)  # how many may be asked for


class Clustering(NamedTuple):
    """The cluster of each use [N], numbered from 0, and how well the clusters are apart (-1 to 1)."""

    labels: Labels
    silhouette: float


@dataclass(frozen=True, eq=False)
class Uses:
    """Some uses of a word: where they stand in a collection, and their vectors [L, N, D]."""

    collection: Collection
    word: str
    places: Sequence[Place]
    passages: Sequence[Passage]  # the sentence of each
    vectors: Floats
    found: int  # how many uses there are; those here are evenly taken if they are fewer

    def __len__(self) -> int:
        return len(self.places)

    @property
    def senses(self) -> list[str | None]:
        """The sense of each use, where it is known."""
        known = [passage.senses or {} for passage in self.passages]
        return [
            senses.get(passage.tokens[place.token])
            for senses, passage, place in zip(known, self.passages, self.places, strict=True)
        ]

    def planes(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """A picture of each layer: points [L, N, 2] from -1 to 1, and how much of the variance they show [L]."""
        return aligned_planes(self.vectors)

    def likeness(self, use: int, *, centred: bool) -> Floats:
        """The cosine of one use with each [L, N]; `centred`: after the collection's mean vector is subtracted."""
        mean = self.collection.mean() if centred else 0.0
        return cosines(self.vectors[:, [use]], self.vectors, mean=mean)[:, 0]

    def neighbors(self, use: int, *, count: int) -> list[list[Neighbor]]:
        """In each layer the words of the collection that are nearest to a use, at most one of a sentence."""
        return self.collection.near(self.passages[use].tokens, self.places[use].token, count=count)

    def clusterings(self, layer: int) -> dict[int, Clustering]:
        """The uses in two to six clusters, as far as there are so many that differ."""
        found: dict[int, Clustering] = {}
        for count in CLUSTERS:
            if count >= len(self):
                break
            labels = cluster_vectors(self.vectors[layer], count)
            if labels.max() + 1 < count:
                break
            found[count] = Clustering(labels, silhouette(self.vectors[layer], labels))
        return found


def find_uses(collection: Collection, word: str, *, most: int, ignore_case: bool = False) -> Uses:
    """The uses of a word in a collection with their vectors: all of them, or `most` evenly taken."""
    places, found = collection.places(word, most=most, ignore_case=ignore_case)
    if not places:
        other = False if ignore_case else collection.places(word, most=1, ignore_case=True)[1] > 0
        hint = "; it is there where upper and lower case are one" if other else "; choose another word or another text"
        raise InputError(f"{word!r} is in none of the {collection.sentence_count:,} sentences{hint}")
    passages = [collection.passage(place.sentence) for place in places]
    return Uses(collection, word, places, passages, collection.vectors(places), found)

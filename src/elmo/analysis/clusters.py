"""Clusters of vectors by direction, and how well they are apart. Without chance: the same vectors, the same clusters.

N vectors, D dimensions, K clusters.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]
Labels = npt.NDArray[np.int64]

ROUNDS = 50  # k-means has settled long before
MOST_SEEDS = 12  # different first centres; the best end is taken
MOST_JUDGED = 1000  # vectors whose silhouette is computed: all pairs are


def cluster_vectors(vectors: Floats, count: int) -> Labels:
    """The cluster [N] of each of N vectors [N, D]: k-means on their directions seen from their mean.

    Clusters are numbered from the largest to the smallest. There are fewer where not so many vectors differ.
    """
    points = _directions(vectors)
    best, least = np.zeros(len(points), dtype=np.int64), np.inf
    for first in np.unique(np.linspace(0, len(points) - 1, min(MOST_SEEDS, len(points))).astype(int)):
        labels, loss = _settle(points, _far_apart(points, count, int(first)))
        if loss < least - 1e-9:
            best, least = labels, loss
    return _by_size(best)


def silhouette(vectors: Floats, labels: Labels) -> float:
    """How much nearer vectors are to their own cluster than to the next (cosine): the mean, from -1 to 1.

    Of more than a thousand vectors a thousand are judged, evenly taken. One cluster alone has 0.
    """
    step = max(1, -(-len(labels) // MOST_JUDGED))
    points, labels = _directions(vectors)[::step], labels[::step]
    names = np.unique(labels)
    if len(names) < 2:
        return 0.0
    distances = 1 - points @ points.T  # [N, N]
    sums = np.stack([distances[:, labels == name].sum(1) for name in names], axis=1)  # [N, K]
    sizes = np.array([(labels == name).sum() for name in names])
    own = labels[:, None] == names
    within = (sums * own).sum(1) / np.maximum((sizes * own).sum(1) - 1, 1)
    nearest = np.where(own, np.inf, sums / sizes).min(1)
    alone = (sizes * own).sum(1) == 1
    widest = np.maximum(np.maximum(within, nearest), 1e-12)
    return float(np.where(alone, 0.0, (nearest - within) / widest).mean())


def _directions(vectors: Floats) -> Floats:
    """Unit vectors seen from the mean; vectors that are all the same stay zero."""
    centred = np.asarray(vectors, dtype=np.float32) - np.mean(vectors, axis=0, dtype=np.float64).astype(np.float32)
    norms = np.linalg.norm(centred, axis=1, keepdims=True)
    scale = float(np.linalg.norm(vectors, axis=1).max(initial=0.0))
    return np.where(norms > 1e-5 * scale, centred / np.maximum(norms, 1e-12), 0.0)


def _far_apart(points: Floats, count: int, first: int) -> Floats:
    """The first centres [K, D]: each is the point farthest from those before it."""
    chosen = [first]
    distances = ((points - points[first]) ** 2).sum(1)
    while len(chosen) < count and distances.max() > 1e-9:
        chosen.append(int(distances.argmax()))
        distances = np.minimum(distances, ((points - points[chosen[-1]]) ** 2).sum(1))
    return points[chosen]


def _settle(points: Floats, centres: Floats) -> tuple[Labels, float]:
    """k-means from some centres on: the cluster of each point, and the sum of squared distances."""
    labels = np.full(len(points), -1, dtype=np.int64)
    for _ in range(ROUNDS):
        distances = (points**2).sum(1)[:, None] - 2 * points @ centres.T + (centres**2).sum(1)  # [N, K]
        before, labels = labels, distances.argmin(1)
        if np.array_equal(before, labels):
            break
        centres = np.stack(
            [points[labels == k].mean(0) if (labels == k).any() else centres[k] for k in range(len(centres))]
        )
    return labels, float(distances.min(1).sum())


def _by_size(labels: Labels) -> Labels:
    names, first, counts = np.unique(labels, return_index=True, return_counts=True)
    order = np.lexsort((first, -counts))
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[order] = np.arange(len(names))
    found: Labels = ranks[np.searchsorted(names, labels)]
    return found

import numpy as np
import pytest

from elmo.analysis.clusters import cluster_vectors, silhouette


def groups(sizes: list[int], *, noise: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """Vectors around as many directions as there are sizes, shuffled, and where each belongs."""
    generator = np.random.default_rng(0)
    wanted = generator.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return np.eye(8)[wanted] * 3 + generator.normal(size=(len(wanted), 8)) * noise, wanted


def test_groups_that_are_apart_are_found_and_numbered_by_size():
    vectors, wanted = groups([5, 20, 9])
    found = cluster_vectors(vectors, 3)
    assert [int(found[wanted == group][0]) for group in range(3)] == [2, 0, 1]
    assert all(len(set(found[wanted == group].tolist())) == 1 for group in range(3))


def test_the_same_vectors_always_have_the_same_clusters():
    vectors = np.random.default_rng(1).normal(size=(60, 8))
    assert cluster_vectors(vectors, 4).tolist() == cluster_vectors(vectors.copy(), 4).tolist()


def test_there_are_no_more_clusters_than_different_vectors():
    assert set(cluster_vectors(np.ones((7, 4)), 3).tolist()) == {0}
    two = np.repeat(np.eye(4)[:2], 5, axis=0)
    assert set(cluster_vectors(two, 3).tolist()) == {0, 1}


def test_the_silhouette_is_that_of_its_definition():
    vectors, _ = groups([4, 6, 5], noise=0.8)
    labels = cluster_vectors(vectors, 3)
    centred = vectors - vectors.mean(0)
    points = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    values = []
    for n in range(len(points)):
        distances = 1 - points @ points[n]
        own = [m for m in range(len(points)) if m != n and labels[m] == labels[n]]
        others = [distances[labels == k].mean() for k in set(labels.tolist()) - {int(labels[n])}]
        a, b = (distances[own].mean() if own else None), min(others)
        values.append(0.0 if a is None else (b - a) / max(a, b))
    assert silhouette(vectors, labels) == pytest.approx(np.mean(values), abs=1e-4)


def test_the_right_number_of_clusters_has_the_best_silhouette():
    vectors, _ = groups([10, 12, 11, 9])
    scores = {count: silhouette(vectors, cluster_vectors(vectors, count)) for count in range(2, 7)}
    assert max(scores, key=scores.__getitem__) == 4
    assert silhouette(vectors, np.zeros(len(vectors), dtype=np.int64)) == 0.0

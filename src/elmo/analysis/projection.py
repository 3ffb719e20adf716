"""Vectors in two dimensions, for pictures; several layers of them so turned that a picture follows from the one before.

N vectors, L layers, D dimensions.
"""

import numpy as np
import numpy.typing as npt


def principal_plane(
    vectors: npt.NDArray[np.floating],
) -> tuple[npt.NDArray[np.float64], float]:
    """Vectors [N, D] on their two directions of largest variance [N, 2], and the fraction of it that is there.

    Each direction points where the largest part lies, so that the same vectors always give the same picture.
    """
    centred = np.asarray(vectors, dtype=np.float64) - np.mean(vectors, axis=0, dtype=np.float64)
    U, S, _ = np.linalg.svd(centred, full_matrices=False)
    points = np.zeros((len(centred), 2))
    kept = min(2, len(S))
    points[:, :kept] = U[:, :kept] * S[:kept]
    largest = points[np.abs(points).argmax(axis=0), [0, 1]]
    total = float((S**2).sum())
    explained = float((S[:2] ** 2).sum()) / total if total > 1e-12 else 1.0
    return points * np.where(largest < 0, -1.0, 1.0), explained


def aligned_planes(vectors: npt.NDArray[np.floating]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The principal planes of several layers [L, N, D]: points [L, N, 2], and what each explains [L].

    Each layer fills the picture, from -1 to 1. From the top layer down each plane is turned, and mirrored if need be,
    to lie as near as it can to the one above (orthogonal Procrustes), so that points move no farther than they must.
    """
    planes = [principal_plane(layer) for layer in vectors]
    points = np.stack([_filling(plane) for plane, _ in planes])
    for layer in reversed(range(len(points) - 1)):
        points[layer] = points[layer] @ _turn(points[layer], points[layer + 1])
    return points, np.array([explained for _, explained in planes])


def _filling(points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Points whose farthest one is 1 from the middle; points that are all the same stay there."""
    reach = float(np.linalg.norm(points, axis=1).max(initial=0.0))
    return points / reach if reach > 1e-5 else np.zeros_like(points)


def _turn(points: npt.NDArray[np.float64], target: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The orthogonal [2, 2] that brings points nearest to the target's. [Schoenemann 1966]"""
    U, _, V = np.linalg.svd(points.T @ target)
    turn: npt.NDArray[np.float64] = U @ V
    return turn

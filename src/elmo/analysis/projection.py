"""Vectors in two dimensions, for pictures."""

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

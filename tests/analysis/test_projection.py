import numpy as np
import pytest

from elmo.analysis.projection import principal_plane


def test_points_that_lie_in_a_plane_keep_their_distances():
    generator = np.random.default_rng(0)
    flat = generator.normal(size=(7, 2)) @ np.linalg.qr(generator.normal(size=(5, 5)))[0][:2]
    points, share = principal_plane(flat + 3.0)
    assert share == pytest.approx(1.0)
    for a in range(7):
        for b in range(7):
            assert np.linalg.norm(points[a] - points[b]) == pytest.approx(np.linalg.norm(flat[a] - flat[b]))


def test_the_first_direction_has_the_largest_variance_and_signs_are_fixed():
    vectors = np.random.default_rng(1).normal(size=(20, 4)) * [1, 9, 1, 3]
    points, share = principal_plane(vectors)
    assert points[:, 0].var() > points[:, 1].var() > 0
    assert 0.8 < share < 1
    again, _ = principal_plane(vectors[:, [1, 0, 3, 2]])
    np.testing.assert_allclose(points, again, atol=1e-9)


@pytest.mark.parametrize("vectors", [np.ones((5, 3)), np.ones((1, 3)), np.ones((4, 1))])
def test_vectors_without_variance_are_one_point(vectors):
    points, share = principal_plane(vectors)
    assert points.shape == (len(vectors), 2)
    assert not points.any()
    assert share == 1.0

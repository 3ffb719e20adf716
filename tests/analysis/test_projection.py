import numpy as np
import pytest

from elmo.analysis.projection import aligned_planes, principal_plane


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


def test_layers_that_are_turned_and_mirrored_copies_lie_on_each_other():
    generator = np.random.default_rng(2)
    top = generator.normal(size=(30, 8)) * [9, 5, 1, 1, 1, 1, 1, 1]
    turned = top @ np.linalg.qr(generator.normal(size=(8, 8)))[0] * 3.0 + 1.0
    points, explained = aligned_planes(np.stack([turned * [1] * 8, turned, top]))
    np.testing.assert_allclose(points[0], points[2], atol=1e-9)
    np.testing.assert_allclose(points[1], points[2], atol=1e-9)
    assert explained == pytest.approx([explained[2]] * 3)


def test_each_layer_fills_the_picture_and_turning_brings_it_nearer_to_the_one_above():
    generator = np.random.default_rng(3)
    low, high = generator.normal(size=(2, 40, 16))
    both, _ = aligned_planes(np.stack([low, low * 0.3 + high]))
    assert np.linalg.norm(both, axis=2).max(axis=1) == pytest.approx([1.0, 1.0])
    apart = ((both[0] - both[1]) ** 2).sum()
    for angle in np.linspace(0, 2 * np.pi, 12, endpoint=False):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        for mirror in ([1, 1], [1, -1]):
            assert ((both[0] @ turn * mirror - both[1]) ** 2).sum() >= apart - 1e-9


def test_a_layer_of_one_point_stays_one_point():
    points, explained = aligned_planes(np.stack([np.ones((6, 4)), np.random.default_rng(4).normal(size=(6, 4))]))
    assert not points[0].any()
    assert explained[0] == 1.0

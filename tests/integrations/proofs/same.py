"""What all proofs ask: are these the vectors of `encode`?"""

import numpy as np

NEAR = 1e-6


def assert_same(found: object, expected: object) -> None:
    """Two arrays, or two lists of arrays, are equal to 1e-6."""
    if isinstance(expected, list):
        assert len(found) == len(expected), (len(found), len(expected))
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
        return
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=0, atol=NEAR)

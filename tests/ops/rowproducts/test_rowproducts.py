"""Products of stored rows against NumPy's in float64, compiled and plain."""

import numpy as np
import pytest
import torch
from tests.tolerances import assert_near

from elmo.ops.cpu.kernels import kernels_run
from elmo.ops.rowproducts import row_products
from elmo.ops.rowproducts.blocked import blocked_products
from elmo.ops.rowproducts.compiled import compiled_products

compiled = pytest.param(
    compiled_products, marks=pytest.mark.skipif(not kernels_run(), reason="no C++ compiler"), id="compiled"
)


@pytest.mark.parametrize("products", [compiled, pytest.param(blocked_products, id="blocked")])
@pytest.mark.parametrize("store", [np.float16, np.int8])
@pytest.mark.parametrize(("N", "D", "Q"), [(0, 8, 1), (1, 1, 1), (5, 17, 3), (1030, 130, 1), (2100, 512, 4)])
def test_products_are_those_of_a_plain_sum(products, store, N, D, Q, tmp_path):
    chance = np.random.default_rng(N + D)
    rows = chance.standard_normal((N, D))
    rows = rows.astype(np.float16) if store == np.float16 else (rows * 40).clip(-127, 127).astype(np.int8)
    scales = None if store == np.float16 else chance.random(N).astype(np.float32)
    vectors = chance.standard_normal((Q, D)).astype(np.float32)
    if N:
        np.save(tmp_path / "rows.npy", rows)
        rows = np.load(tmp_path / "rows.npy", mmap_mode="r")  # as an index has them: mapped, not to be written
    wanted = vectors.astype(np.float64) @ rows.astype(np.float64).T * (1.0 if scales is None else scales)
    for found in (products(rows, vectors, scales=scales), row_products(rows, vectors, scales=scales)):
        assert found.dtype == np.float32
        assert_near(torch.from_numpy(found), torch.from_numpy(wanted), dtype=torch.float32, name="products")


@pytest.mark.skipif(not kernels_run(), reason="no C++ compiler")
def test_every_float16_is_read_as_it_is_the_special_ones_too():
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)[:, None]
    found = compiled_products(halves, np.ones((1, 1), np.float32), scales=None)[0]
    np.testing.assert_array_equal(found, halves[:, 0].astype(np.float32))


@pytest.mark.skipif(not kernels_run(), reason="no C++ compiler")
def test_a_product_does_not_depend_on_what_is_computed_beside_it():
    chance = np.random.default_rng(5)
    rows = chance.standard_normal((23, 70)).astype(np.float16)
    vectors = chance.standard_normal((5, 70)).astype(np.float32)
    together = compiled_products(rows, vectors, scales=None)
    for n in range(len(rows)):
        for q in range(len(vectors)):
            alone = compiled_products(rows[n : n + 1], vectors[q : q + 1], scales=None)
            assert alone[0, 0] == together[q, n]

"""Kernel matrices: the same wherever the rows lie, computed in tiles."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.extmath import safe_sparse_dot

from mlspl.spaces._kernels import kernel_matrix

# Sixteenths: exact also far from zero.
X = np.round(16 * np.random.RandomState(0).randn(32, 5)) / 16


def test_far_from_zero_the_kernel_is_what_it_is_near():
    np.testing.assert_allclose(kernel_matrix(X + 2.0**30, X + 2.0**30, "rbf"), kernel_matrix(X, X, "rbf"))


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix])
def test_kernels_are_computed_in_tiles(kernel, form, monkeypatch):
    """OpenBLAS dies of the product of 16,000 rows with their own transpose: no call sees more than a tile."""
    rows, others = form(np.eye(50, 7) + 0.1), form(np.ones((30, 7)) - np.eye(30, 7))
    options = {} if kernel == "linear" else {"gamma": 1.0}
    whole, between = kernel_matrix(rows, rows, kernel), kernel_matrix(rows, others, kernel)
    seen = []

    def watched(A, B, **given):
        seen.append(max(A.shape[0], B.shape[1]))
        return safe_sparse_dot(A, B, **given)

    monkeypatch.setitem(kernel_matrix.__globals__, "safe_sparse_dot", watched)
    monkeypatch.setitem(kernel_matrix.__globals__, "_TILE_ROWS", 16)
    tiled = kernel_matrix(rows, rows, kernel)
    np.testing.assert_allclose(tiled, pairwise_kernels(rows, metric=kernel, **options), rtol=1e-12)
    np.testing.assert_allclose(tiled, tiled.T, rtol=1e-14)
    np.testing.assert_allclose(tiled, whole, rtol=1e-12)
    np.testing.assert_allclose(kernel_matrix(rows, others, kernel), between, rtol=1e-12)
    assert max(seen) == 16
    if kernel == "rbf":
        np.testing.assert_array_equal(tiled.diagonal(), 1.0)


LARGE = """
import numpy as np
from mlspl.spaces._kernels import kernel_matrix

X = np.random.default_rng(0).random((17_000, 384))
K = kernel_matrix(X, X, "linear")
np.testing.assert_allclose(K[::1700, ::1699], X[::1700] @ X[::1699].T)
"""


def test_a_kernel_of_17000_rows_does_not_kill_the_process():
    """X @ X.T does so at this very size, on two threads, with NumPy 2.3 and 2.4: a segmentation fault."""
    pages = "SC_AVPHYS_PAGES"
    if pages not in getattr(os, "sysconf_names", ()) or os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE") < 5e9:
        pytest.skip("needs 5 GB of free memory")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    assert subprocess.run([sys.executable, "-c", LARGE], env=environment, timeout=250).returncode == 0

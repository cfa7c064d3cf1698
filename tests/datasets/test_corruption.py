"""`corrupt`: exactly as much, only there, and by the seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy
from scipy import sparse

from mlspl.datasets import corrupt
from mlspl.errors import UserError

label_matrices = st_numpy.arrays(
    float,
    st_numpy.array_shapes(min_dims=2, max_dims=2, max_side=8),
    elements=st.sampled_from([0.0, 0.0, 1.0, 1.0, np.nan]),
)
rates = st.floats(0, 1)
seeds = st.integers(0, 2**32 - 1)


@settings(deadline=None)
@given(label_matrices, st.sampled_from(["flip", "missing", "swap", "annotator"]), rates, seeds)
def test_laws_of_every_kind(Y, kind, rate, seed):
    before = Y.copy()
    noisy, mask = corrupt(Y, kind, rate, seed)
    np.testing.assert_array_equal(Y, before)
    assert noisy.dtype == Y.dtype
    np.testing.assert_array_equal(np.isnan(noisy), np.isnan(Y))
    np.testing.assert_array_equal(mask, (noisy != Y) & ~np.isnan(Y))
    again, same_mask = corrupt(Y, kind, rate, seed)
    np.testing.assert_array_equal(noisy, again)
    np.testing.assert_array_equal(mask, same_mask)


@settings(deadline=None)
@given(label_matrices, rates, seeds)
def test_the_amount_is_exact(Y, rate, seed):
    known, relevant = int((~np.isnan(Y)).sum()), int(np.nansum(Y))
    for kind in ("flip", "annotator"):
        assert corrupt(Y, kind, rate, seed)[1].sum() == round(rate * known)
    hidden, mask = corrupt(Y, "missing", rate, seed)
    assert mask.sum() == round(rate * relevant)
    assert np.all(Y[mask] == 1)
    assert np.all(hidden[mask] == 0)


@settings(deadline=None)
@given(label_matrices, rates, seeds)
def test_a_swap_keeps_the_number_of_labels_of_every_row(Y, rate, seed):
    noisy, mask = corrupt(Y, "swap", rate, seed)
    np.testing.assert_array_equal(np.nansum(noisy, axis=1), np.nansum(Y, axis=1))
    movable = np.minimum((Y == 1).sum(axis=1), (Y == 0).sum(axis=1)).sum()
    moved = (mask & (Y == 1)).sum()
    assert moved == min(round(rate * int(np.nansum(Y))), movable)
    assert mask.sum() == 2 * moved


def test_every_pair_is_as_likely_as_any_other():
    Y = np.tile([1, 1, 0, 0, 0], (4, 1))
    for kind, eligible in (("flip", np.ones(Y.shape, bool)), ("missing", Y == 1), ("swap", Y >= 0)):
        hits = sum(corrupt(Y, kind, 0.25, seed)[1].astype(float) for seed in range(800)) / 800
        for group in (eligible & (Y == 1), eligible & (Y == 0)):
            if group.any():
                # Shares of 800 draws: five standard deviations are at most 5 × 0.5/√800 = 0.09.
                assert np.ptp(hits[group]) < 0.18
        assert not hits[~eligible].any()


@pytest.mark.parametrize(("kind", "rate"), [("flop", 0.1), ("flip", -0.1), ("flip", 1.1), ("flip", np.nan)])
def test_kinds_and_rates_that_are_none(kind, rate):
    with pytest.raises(UserError, match=r"kind=|rate="):
        corrupt(np.eye(3), kind, rate)


@pytest.mark.parametrize(
    "Y", [np.array([0, 1]), np.array([[0, 2]]), np.array([[-1, 1]]), sparse.csr_array([[0, 2]])]
)
def test_labels_that_are_none(Y):
    with pytest.raises(UserError, match="Y"):
        corrupt(Y, "flip", 0.1)


def test_ambiguous_errors_lie_where_a_model_is_unsure():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    Y = (X @ rng.normal(size=(3, 4)) + rng.logistic(size=(600, 4)) > 0).astype(float)
    Y[0, 0] = np.nan
    noisy, mask = corrupt(Y, "ambiguous", 0.1, random_state=0, X=X)
    assert mask.sum() == round(0.1 * (Y.size - 1))
    assert not mask[0, 0]
    np.testing.assert_array_equal(mask, (noisy != Y) & ~np.isnan(Y))
    distance = np.abs(X @ np.linalg.lstsq(X, np.nan_to_num(Y) - 0.5, rcond=None)[0])
    assert distance[mask].mean() < 0.8 * distance[~mask].mean()
    with pytest.raises(UserError, match="X="):
        corrupt(Y, "ambiguous", 0.1)


def test_errors_of_a_careless_annotator_share_rows():
    Y = np.zeros((2000, 10), int)
    together, apart = (corrupt(Y, kind, 0.1, random_state=0)[1].sum(axis=1) for kind in ("annotator", "flip"))
    assert together.sum() == apart.sum() == 2000
    # The variance of a binomial count is 0.9; with correlated errors it is several times that.
    assert together.var() > 2 * apart.var()

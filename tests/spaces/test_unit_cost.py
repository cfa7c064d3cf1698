"""The unit of C in every space: 1 on a kernel matrix, and as much for rows of any length elsewhere."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import polynomial_kernel

from mlspl import BSVMClassifier, MLLOCClassifier, MLSPLClassifier, MLSPLClassifierCV
from mlspl.spaces import Gram, Linear, Nystroem

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4)) * [1.0, 5.0, 0.1, 2.0]
Y = (X[:, :2] + rng.normal(size=(60, 2)) > 0).astype(int)
LENGTH = sum(float(x @ x) for x in X) / len(X)


@pytest.mark.parametrize(
    ("estimator", "C"), [(BSVMClassifier, 1.0), (MLSPLClassifier, 1.0), (MLLOCClassifier, 0.5)]
)
def test_on_a_kernel_matrix_it_is_the_number_it_was(estimator, C):
    seed = {} if estimator is BSVMClassifier else {"random_state": 0}
    auto, given = estimator(**seed).fit(X, Y), estimator(C=C, **seed).fit(X, Y)
    assert auto.C_ == given.C_ == C
    np.testing.assert_array_equal(auto.decision_function(X), given.decision_function(X))


def test_lengths_in_any_container():
    assert Linear().unit_cost(sparse.csr_array(X)) == pytest.approx(1 / LENGTH, rel=1e-12)
    # The numbers are rounded to 24 bits, and their squares added in 53.
    assert Linear().unit_cost(X.astype(np.float32)) == pytest.approx(1 / LENGTH, rel=1e-6)
    many = np.full((20_000, 3), 0.1, dtype=np.float32)
    assert Linear().unit_cost(many) == pytest.approx(1 / (3 * float(np.float32(0.1)) ** 2), rel=1e-12)
    assert Linear().unit_cost(np.zeros((5, 2))) == Linear().unit_cost(sparse.csr_array((5, 2))) == 1.0


def test_kernels_by_their_diagonal():
    assert Gram("linear").unit_cost(X) == Nystroem("rbf").unit_cost(X) == 1.0
    assert Nystroem("linear").unit_cost(X) == pytest.approx(1 / LENGTH, rel=1e-9)
    diagonal = np.diag(polynomial_kernel(X, degree=2, gamma=0.1, coef0=1.0))
    poly = Nystroem(partial(polynomial_kernel, degree=2, gamma=0.1, coef0=1.0))
    assert poly.unit_cost(X) == pytest.approx(1 / diagonal.mean(), rel=1e-9)
    assert Nystroem("linear").unit_cost(np.zeros((5, 2))) == 1.0


def test_what_is_tried_is_measured_in_it():
    settings = {"families": ("linear",), "budget": "fast", "quantiles": (), "random_state": 0}
    tried = {row["C"] for row in MLSPLClassifierCV(**settings).fit(X, Y).cv_results_}
    np.testing.assert_allclose(sorted(tried), [0.5 / LENGTH, 4.0 / LENGTH])
    given = {row["C"] for row in MLSPLClassifierCV(C=(2.0,), **settings).fit(X, Y).cv_results_}
    assert given == {2.0}

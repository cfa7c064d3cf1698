"""The yardstick is scikit-learn's forest, in arrays that a model file may hold."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier

from mlspl import load_model, save_model
from mlspl.datasets import load_dataset
from mlspl.models import ExtraTrees

DIGITS = load_dataset("digits-traits")
X, Y, NEW = DIGITS.X[:120], DIGITS.Y[:120].copy(), DIGITS.X[120:300]
Y[:, 3] = 0
PARAMETERS = {"n_estimators": 15, "min_samples_leaf": 3, "random_state": 0}


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_it_answers_as_scikit_learn_does(container, tmp_path):
    model = ExtraTrees(**PARAMETERS).fit(container(X), Y)
    theirs = ExtraTreesClassifier(**PARAMETERS).fit(container(X), Y).predict_proba(container(NEW))
    expected = [share[:, 1] if share.shape[1] > 1 else np.zeros(len(NEW)) for share in theirs]
    # Sums of 15 shares, in another order.
    np.testing.assert_allclose(model.predict_proba(container(NEW)), np.column_stack(expected), atol=1e-14)
    again = load_model(save_model(model, tmp_path / "model.skops", label_names=DIGITS.label_names))
    np.testing.assert_array_equal(again.decision_function(NEW), model.decision_function(NEW))


def test_unknown_pairs_are_left_out_label_by_label():
    unknown = Y.astype(float)
    unknown[::3, 0] = np.nan
    unknown[:, 1] = np.nan
    probabilities = ExtraTrees(**PARAMETERS).fit(X, unknown).predict_proba(NEW)
    rows = np.arange(len(X)) % 3 > 0
    theirs = ExtraTreesClassifier(**PARAMETERS).fit(X[rows], Y[rows, 0].astype(bool)).predict_proba(NEW)
    np.testing.assert_allclose(probabilities[:, 0], theirs[:, 1], atol=1e-14)
    assert not probabilities[:, 1].any()

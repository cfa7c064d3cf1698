"""Unpaced joint trees beside scikit-learn's extra trees."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier

from mlspl import load_model, save_model
from mlspl.datasets import load_dataset
from mlspl.recipes import get_method

DIGITS = load_dataset("digits-traits")
X, Y, NEW = DIGITS.X[:120], DIGITS.Y[:120].copy(), DIGITS.X[120:300]
Y[:, 3] = 0
PARAMETERS = {"n_estimators": 200, "min_samples_leaf": 3}


def make():
    return get_method("extra-trees").make(PARAMETERS, 0)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_it_answers_as_scikit_learn_does(container, tmp_path):
    """Of other draws: the mean of 200 trees with a spread of at most ½ has a standard error of 0.035."""
    model = make().fit(container(X), Y)
    theirs = ExtraTreesClassifier(**PARAMETERS, random_state=1).fit(X, Y).predict_proba(NEW)
    expected = [share[:, 1] if share.shape[1] > 1 else np.zeros(len(NEW)) for share in theirs]
    difference = model.predict_proba(container(NEW)) - np.column_stack(expected)
    assert np.abs(difference).max() < 5 * 0.035 * np.sqrt(2)
    assert np.abs(difference).mean() < 0.035
    again = load_model(save_model(model, tmp_path / "model.skops", label_names=DIGITS.label_names))
    np.testing.assert_array_equal(again.decision_function(NEW), model.decision_function(NEW))


def test_unknown_pairs_are_left_out():
    unknown = Y.astype(float)
    unknown[::3, 0] = np.nan
    unknown[:, 1] = np.nan
    other = unknown.copy()
    probabilities = make().fit(X, unknown).predict_proba(NEW)
    weight = np.where(np.isnan(unknown), 0.0, 1.0)
    other[::3, 0] = 1
    other[:, 1] = 1
    same = make().fit(X, other, weight).predict_proba(NEW)
    np.testing.assert_array_equal(probabilities, same)
    np.testing.assert_allclose(probabilities[:, 1], 0.5)  # the frequency of a label without a known pair

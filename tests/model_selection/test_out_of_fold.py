"""Out-of-fold scores: every row scored by a model that has not seen it, in any container."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import KFold, ShuffleSplit, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from mlspl.errors import UserError
from mlspl.model_selection import IterativeStratification, out_of_fold_scores
from mlspl.models import BSVMClassifier


class WeightedRidge(ClassifierMixin, BaseEstimator):
    """The smallest estimator with prior weights per pair: one weighted ridge a label, on ±1 targets."""

    def fit(self, X, Y, label_weight=None):
        X, Y = np.asarray(X), np.asarray(Y)
        weight = np.ones(Y.shape) if label_weight is None else np.asarray(label_weight)
        self.coef_ = np.column_stack(
            [
                np.linalg.solve((X.T * w) @ X + np.eye(X.shape[1]), (X.T * w) @ (2 * y - 1))
                for y, w in zip(Y.T, weight.T, strict=True)
            ]
        )
        return self

    def decision_function(self, X):
        return np.asarray(X) @ self.coef_


@pytest.fixture(scope="module")
def data():
    return make_multilabel_classification(n_samples=60, n_classes=4, random_state=0)


def test_complete_labels_give_what_cross_val_predict_gives(data):
    X, Y = data
    ours = out_of_fold_scores(RidgeClassifier(), X, Y, cv=KFold(4))
    theirs = cross_val_predict(RidgeClassifier(), X, Y, cv=KFold(4), method="decision_function")
    np.testing.assert_allclose(ours, theirs)


def test_a_label_all_rows_have_is_not_recoded(data):
    """cross_val_predict would show the estimator zeros in that column."""
    X, Y = data
    Y = Y.copy()
    Y[:, 1] = 1
    scores = out_of_fold_scores(WeightedRidge(), X + 1.0, Y)
    assert (scores[:, 1] > 0.5).all()


def test_weights_reach_the_fits_row_by_row(data):
    X, Y = data
    weight = np.random.default_rng(0).uniform(0, 2, Y.shape)
    scores = out_of_fold_scores(WeightedRidge(), X, Y, weight, cv=3)
    for train, test in IterativeStratification(3, random_state=0).split(X, Y):
        alone = WeightedRidge().fit(X[train], Y[train], weight[train])
        np.testing.assert_allclose(scores[test], alone.decision_function(X[test]))


def test_a_precomputed_kernel_is_cut_on_both_sides(data):
    X, Y = data
    X = X / 10
    for make in (
        lambda kernel: OneVsRestClassifier(SVC(kernel=kernel)),
        lambda kernel: BSVMClassifier(kernel=kernel),
    ):
        on_kernel = out_of_fold_scores(make("precomputed"), X @ X.T, Y)
        # Two roads to one optimum, each within the solver's tolerance of 1e-3.
        np.testing.assert_allclose(on_kernel, out_of_fold_scores(make("linear"), X, Y), atol=1e-2)


@pytest.mark.parametrize(
    ("hold_X", "hold_Y"),
    [
        (pd.DataFrame, lambda Y: pd.DataFrame(Y, index=np.arange(60)[::-1])),
        (list, list),
        (sparse.coo_array, lambda Y: Y),
        (lambda X: X, sparse.coo_array),
    ],
    ids=["pandas", "list", "sparse X", "sparse Y"],
)
def test_one_answer_for_every_container(data, hold_X, hold_Y):
    X, Y = data
    model = OneVsRestClassifier(RidgeClassifier(solver="cholesky", fit_intercept=False))
    np.testing.assert_allclose(
        out_of_fold_scores(model, hold_X(X), hold_Y(Y)), out_of_fold_scores(model, X, Y), atol=1e-10
    )


def test_the_estimator_is_left_as_it_was_and_the_folds_are_seeded(data):
    X, Y = data
    model = RidgeClassifier()
    first = out_of_fold_scores(model, X, Y)
    assert not hasattr(model, "coef_")
    np.testing.assert_array_equal(first, out_of_fold_scores(clone(model), X, Y))
    with parallel_config(backend="threading"):
        np.testing.assert_array_equal(first, out_of_fold_scores(model, X, Y, n_jobs=2))


def test_every_row_must_be_tested_once(data):
    X, Y = data
    with pytest.raises(UserError, match="cv"):
        out_of_fold_scores(RidgeClassifier(), X, Y, cv=ShuffleSplit(3, random_state=0))

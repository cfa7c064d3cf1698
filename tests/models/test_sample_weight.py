"""Weights of rows: what they are, where a row of weight 2 is two rows, and how scikit-learn hands them on."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mlspl
from tests.models.odd_inputs import ESTIMATORS, X_NEW, L, N, X, Y

ROWS = np.random.RandomState(0).randint(0, 3, N).astype(float)
TAKING = [name for name in ESTIMATORS if "tram" not in name and name != "ranksvm"]


@pytest.mark.parametrize("name", TAKING)
def test_it_multiplies_the_weights_of_the_pairs(name):
    pairs = np.random.RandomState(1).rand(N, L)
    both = clone(ESTIMATORS[name]).fit(X, Y, label_weight=pairs, sample_weight=ROWS)
    product = clone(ESTIMATORS[name]).fit(X, Y, label_weight=pairs * ROWS[:, None])
    np.testing.assert_array_equal(both.decision_function(X_NEW), product.decision_function(X_NEW))


@pytest.mark.parametrize("container", [list, pd.Series])
def test_alone_it_is_the_weight_of_every_pair(container):
    ours = mlspl.BSVMClassifier().fit(X, Y, sample_weight=container(ROWS))
    pairs = mlspl.BSVMClassifier().fit(X, Y, label_weight=np.tile(ROWS[:, None], L))
    np.testing.assert_array_equal(ours.decision_function(X_NEW), pairs.decision_function(X_NEW))


@pytest.mark.parametrize(
    "estimator",
    [
        mlspl.BSVMClassifier(gamma="auto", tol=1e-8),
        mlspl.BSVMClassifier(1.0, space="linear", tol=1e-12),
        mlspl.SelfPacedClassifier(LogisticRegression(tol=1e-10), pace_function=None),
    ],
    ids=["gram", "linear", "one classifier a label"],
)
def test_a_row_of_weight_2_is_two_rows_and_one_of_weight_0_is_none(estimator):
    """The same minimum, found from other data: equal to some times the solvers' tolerance."""
    repeated = np.repeat(np.arange(N), ROWS.astype(int))
    weighted = clone(estimator).fit(X, Y, sample_weight=ROWS).decision_function(X_NEW)
    longer = clone(estimator).fit(X[repeated], Y[repeated]).decision_function(X_NEW)
    np.testing.assert_allclose(weighted, longer, atol=1e-4)


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        (np.ones(N - 1), r"shape \(31,\)"),
        (np.ones((N, L)), "label_weight"),
        (np.where(np.arange(N) == 3, -1.0, 1.0), r"sample_weight\[3, 0\] is -1"),
        (np.where(np.arange(N) == 3, np.nan, 1.0), r"sample_weight\[3, 0\] is nan"),
        (np.zeros(N), "zero for every row"),
    ],
)
def test_what_is_no_weight_is_refused_with_a_sentence(weight, sentence):
    with pytest.raises(ValueError, match=sentence):
        mlspl.BSVMClassifier().fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize("name", ["tram", "ranksvm"])
def test_those_that_take_none(name):
    """TRAM's weights say how far a label is believed; two labels of RankSVM cost the product of theirs."""
    with pytest.raises(TypeError, match="sample_weight"):
        clone(ESTIMATORS[name]).fit(X, Y, sample_weight=ROWS)


def test_the_square_root_counts_a_row_of_ranksvm_twice():
    repeated = np.repeat(np.arange(N), ROWS.astype(int))
    weight = np.sqrt(np.tile(ROWS[:, None], L))
    weighted = mlspl.RankSVMClassifier(gamma="auto", tol=1e-8).fit(X, Y, label_weight=weight).objective_
    longer = mlspl.RankSVMClassifier(gamma="auto", tol=1e-8).fit(X[repeated], Y[repeated]).objective_
    assert weighted == pytest.approx(longer, rel=1e-6)


def test_scikit_learn_hands_it_on():
    weight = ROWS + 1.0
    pipeline = make_pipeline(StandardScaler(), mlspl.BSVMClassifier())
    pipeline.fit(X, Y, bsvmclassifier__sample_weight=weight)
    alone = mlspl.BSVMClassifier().fit(StandardScaler().fit_transform(X), Y, sample_weight=weight)
    np.testing.assert_array_equal(
        pipeline.decision_function(X), alone.decision_function(pipeline[0].transform(X))
    )
    search = GridSearchCV(mlspl.BSVMClassifier(), {"C": [1.0]}, cv=2).fit(X, Y, sample_weight=weight)
    same = mlspl.BSVMClassifier().fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(search.decision_function(X_NEW), same.decision_function(X_NEW))

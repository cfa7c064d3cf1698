"""RankSVM as an estimator: scikit-learn's checks, rankings and cuts against slow twins, odd and real data."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from mlspl.datasets import load_dataset
from mlspl.metrics import score_all
from mlspl.model_selection import protocol_split
from mlspl.models import RankSVMClassifier
from mlspl.solvers import solve_rank_svm
from tests.naive import models as naive


@parametrize_with_checks([RankSVMClassifier()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, Y = make_multilabel_classification(n_samples=80, n_features=6, n_classes=5, n_labels=2, random_state=0)
    X = StandardScaler().fit_transform(X)
    mixed = Y.any(axis=1) & ~Y.all(axis=1)
    assert (~mixed).any()
    return X, Y, mixed


def test_decision_is_score_minus_least_squares_cut(data):
    X, Y, mixed = data
    K = rbf_kernel(X, X[mixed], gamma=1 / 6)
    sign = np.where(Y[mixed] == 1, 1.0, -1.0)
    size = np.array([[sum(row == 1) * sum(row == 0)] for row in Y[mixed]])
    solution = solve_rank_svm(K[mixed], sign * np.sqrt(2.0 / size), tol=1e-8)
    cuts = [naive.best_cut(f, s) for f, s in zip(solution.scores, sign, strict=True)]
    design = np.column_stack([solution.scores, np.ones(len(cuts))])
    slope = np.linalg.lstsq(design, np.array(cuts), rcond=None)[0]
    scores = K @ solution.coef + solution.bias
    expected = scores - np.column_stack([scores, np.ones(len(X))]) @ slope[:, None]
    model = RankSVMClassifier(C=2.0, gamma="auto", tol=1e-8).fit(X, Y)
    # Kernel values that differ in the last bit end elsewhere within the gap.
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-5)
    np.testing.assert_array_equal(model.predict(X), expected > 0)


def test_gap_is_reported_and_met(data):
    X, Y, _ = data
    for tol in (1e-2, 1e-4, 1e-8):
        model = RankSVMClassifier(tol=tol).fit(X, Y)
        assert 0 <= model.dual_gap_ <= tol * model.objective_
        assert 1 <= model.n_iter_ < 1000


def test_rows_with_no_or_all_labels_teach_nothing_and_are_predicted(data):
    X, Y, mixed = data
    every, without = RankSVMClassifier().fit(X, Y), RankSVMClassifier().fit(X[mixed], Y[mixed])
    np.testing.assert_allclose(every.decision_function(X), without.decision_function(X), rtol=0, atol=1e-12)
    assert set(every.support_) <= set(np.flatnonzero(mixed))


def test_a_single_label_is_nearly_the_ordinary_svm_of_twice_the_cost(data):
    """Nearly, because a large bias costs something here."""
    X, Y, _ = data
    ours = RankSVMClassifier(C=0.7, tol=1e-8).fit(X, Y[:, 0])
    libsvm = SVC(C=1.4, gamma="auto", tol=1e-8).fit(X, Y[:, 0])
    np.testing.assert_allclose(ours.decision_function(X), libsvm.decision_function(X), atol=0.1)
    column = RankSVMClassifier(C=0.7, tol=1e-8).fit(X, Y[:, :1])
    np.testing.assert_array_equal(column.decision_function(X)[:, 0], ours.decision_function(X))


def test_probabilities_rank_and_predict_as_the_scores_do(data):
    X, Y, _ = data
    model = RankSVMClassifier().fit(X, Y)
    scores, probabilities = model.decision_function(X), model.predict_proba(X)
    np.testing.assert_array_equal(probabilities > 0.5, scores > 0)
    np.testing.assert_array_equal(np.argsort(probabilities, axis=1), np.argsort(scores, axis=1))
    likelihood = np.mean(np.log(np.where(Y == 1, probabilities, 1 - probabilities)))
    unscaled = np.mean(-np.log1p(np.exp(np.where(Y == 1, -scores, scores))))
    assert likelihood > unscaled


def test_weight_zero_unknown_and_absent_are_the_same(data):
    X, Y, _ = data
    rng = np.random.default_rng(0)
    hidden = rng.random(Y.shape) < 0.2
    hidden[:5] = True
    by_weight = RankSVMClassifier().fit(X, Y, label_weight=np.where(hidden, 0.0, 1.0))
    by_nan = RankSVMClassifier().fit(X, np.where(hidden, np.nan, Y))
    np.testing.assert_array_equal(by_weight.decision_function(X), by_nan.decision_function(X))
    dropped = RankSVMClassifier().fit(X[5:], Y[5:], label_weight=np.where(hidden, 0.0, 1.0)[5:])
    np.testing.assert_allclose(by_weight.decision_function(X), dropped.decision_function(X), atol=1e-12)


def test_a_weight_of_root_two_on_both_sides_is_the_row_twice(data):
    X, Y, _ = data
    weight = np.ones(Y.shape)
    weight[:10] = np.sqrt(2)
    weighted = RankSVMClassifier(gamma="auto", tol=1e-9).fit(X, Y, label_weight=weight)
    twice = RankSVMClassifier(gamma="auto", tol=1e-9).fit(np.vstack([X, X[:10]]), np.vstack([Y, Y[:10]]))
    np.testing.assert_allclose(weighted.decision_function(X), twice.decision_function(X), atol=1e-3)
    assert weighted.objective_ == pytest.approx(twice.objective_, rel=1e-8)


def test_containers_and_kernels_agree(data):
    X, Y, _ = data
    X = np.where(X < 0, 0.0, X)
    expected = RankSVMClassifier(1.0, gamma="auto").fit(X, Y).decision_function(X)
    frame = pd.DataFrame(Y, columns=list("abcde"))
    for A, B in [
        (sparse.csr_matrix(X), Y),
        (X, sparse.csr_matrix(Y)),
        (X, frame),
        (X, 2 * Y - 1),
        (X, Y == 1),
    ]:
        model = RankSVMClassifier(1.0, gamma="auto").fit(A, B)
        np.testing.assert_allclose(model.decision_function(A), expected, atol=1e-9)
    K = rbf_kernel(X, gamma=1 / 6)
    precomputed = RankSVMClassifier(kernel="precomputed").fit(K, Y)
    np.testing.assert_allclose(precomputed.decision_function(K), expected, atol=1e-9)
    function = RankSVMClassifier(kernel=lambda A, B: rbf_kernel(A, B, gamma=1 / 6)).fit(X, Y)
    np.testing.assert_allclose(function.decision_function(X), expected, atol=1e-9)


def test_inputs_may_be_read_only_and_stay_as_they_are(data):
    X, Y, _ = data
    X, Y, weight = X.copy(), Y.copy(), np.ones(Y.shape)
    for array in (X, Y, weight):
        array.setflags(write=False)
    before = X.copy(), Y.copy()
    model = RankSVMClassifier().fit(X, Y, label_weight=weight)
    model.predict_proba(X)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(Y, before[1])


def test_constant_labels_go_to_the_ends_of_the_ranking(data):
    X, Y, _ = data
    always, never = np.ones((len(Y), 1)), np.zeros((len(Y), 1))
    model = RankSVMClassifier().fit(X, np.hstack([never, Y, always]))
    scores = model.decision_function(X)
    assert np.all((scores[:, -1:] - scores[:, 1:-1])[Y == 0] > 0.5)
    assert np.all((scores[:, 1:-1] - scores[:, :1])[Y == 1] > 0.5)


def test_without_any_pair_labels_are_ranked_by_frequency():
    Y = np.array([[1, 1, 1]] * 3 + [[0, 0, 0]])
    weight = np.array([[1.0, 2.0, 0.0]] * 4)
    model = RankSVMClassifier().fit(np.zeros((4, 2)), Y, label_weight=weight)
    np.testing.assert_allclose(
        model.decision_function(np.ones((2, 2))), [[np.log(2), np.log(7 / 3), 0.0]] * 2
    )
    assert (model.dual_gap_, model.n_iter_) == (0.0, 0)


@pytest.mark.parametrize(
    ("X", "Y"),
    [
        (np.zeros((6, 1)), [[1, 0], [0, 1]] * 3),
        (np.arange(6.0)[:, None], [[1, 0, 1]] * 6),
        (np.arange(2.0)[:, None], [[1, 0], [0, 1]]),
        (np.ones((1, 1)), [[1, 0]]),
        (np.repeat(np.eye(2), 4, axis=0), [[1, 0, 0], [0, 1, 0]] * 4),
    ],
    ids=["one point", "one label set", "two rows", "one row", "contradicting duplicates"],
)
def test_odd_data_are_learned_without_a_complaint_but_the_warranted_one(X, Y):
    model = RankSVMClassifier().fit(X, np.array(Y))
    assert np.isfinite(model.decision_function(X)).all()
    assert model.dual_gap_ <= 1e-4 * model.objective_


def test_one_label_set_for_all_rows_is_predicted():
    X, Y = np.arange(6.0)[:, None], np.array([[1, 0, 1]] * 6)
    np.testing.assert_array_equal(RankSVMClassifier().fit(X, Y).predict(X), Y)


def test_stopping_early_warns_with_the_gap(data):
    X, Y, _ = data
    with pytest.warns(ConvergenceWarning, match="duality gap .*max_iter"):
        model = RankSVMClassifier(max_iter=1).fit(X, Y)
    assert model.dual_gap_ > 1e-4 * model.objective_


def scaled_split(data_home, name, split):
    dataset = load_dataset(name, data_home=data_home)
    train, test = protocol_split(len(dataset.Y), split)
    scaler = StandardScaler().fit(dataset.X[train])
    X = scaler.transform(dataset.X)
    return X[train], dataset.Y[train], X[test], dataset.Y[test]


@pytest.mark.parametrize(
    ("name", "ranking_loss", "average_precision"), [("scene", 0.072, 0.870), ("emotions", 0.172, 0.791)]
)
def test_figures_on_real_data(data_home, name, ranking_loss, average_precision):
    # Means of ten splits; three splits stay within ±.01 of them.
    figures = []
    for split in range(3):
        X, Y, X_test, Y_test = scaled_split(data_home, name, split)
        model = RankSVMClassifier().fit(X, Y)
        figures.append(score_all(Y_test, model.decision_function(X_test), model.predict(X_test)))
    assert np.mean([row["ranking_loss"] for row in figures]) == pytest.approx(ranking_loss, abs=0.015)
    assert np.mean([row["average_precision"] for row in figures]) == pytest.approx(
        average_precision, abs=0.015
    )


def test_the_polynomial_of_degree_8_gives_most_rows_one_ranking(data_home):
    X, Y, X_test, _ = scaled_split(data_home, "scene", 0)
    model = RankSVMClassifier(kernel=partial(polynomial_kernel, degree=8, coef0=0)).fit(X, Y)
    rankings = np.argsort(model.decision_function(X_test), axis=1)
    assert np.unique(rankings, axis=0, return_counts=True)[1].max() > 0.8 * len(rankings)


def test_sparse_features_have_a_larger_default_cost(data):
    X, Y, _ = data
    scores = RankSVMClassifier().fit(sparse.csr_matrix(X), Y).decision_function(X)
    np.testing.assert_allclose(scores, RankSVMClassifier(10.0).fit(X, Y).decision_function(X), atol=1e-9)

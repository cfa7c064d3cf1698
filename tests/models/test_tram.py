import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelPropagation
from sklearn.utils.estimator_checks import parametrize_with_checks

from mlspl.datasets import load_dataset
from mlspl.errors import UserError
from mlspl.metrics import average_precision, score_all
from mlspl.model_selection import protocol_split
from mlspl.models import TRAMClassifier
from tests.naive import models as naive
from tests.watched import little_memory

EXPECTED_FAILURES = {
    "check_methods_subset_invariance": "Transduction: the rows asked about together are part of the graph."
}


@parametrize_with_checks([TRAMClassifier(k=3)], expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def data(n, n_labels=4, n_features=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    Y = (X @ rng.normal(size=(n_features, n_labels)) + rng.normal(size=(n, n_labels)) > 0.3).astype(int)
    return X, Y


def top_labels(shares, counts):
    chosen = np.zeros(shares.shape, dtype=bool)
    for row, (f, z) in enumerate(zip(np.round(shares, 9), np.round(counts, 9), strict=True)):
        chosen[row, np.argsort(-f, kind="stable")[: int(np.floor(z + 0.5))]] = True
    return chosen


problems = st.integers(6, 20).flatmap(
    lambda n: st.tuples(
        arrays(np.int64, (n, 2), elements=st.integers(0, 4)),
        arrays(np.int64, (n // 2, 3), elements=st.integers(0, 1)),
        st.integers(1, 4),
    )
)


@settings(max_examples=20, deadline=None)
@given(problems)
def test_equals_a_dense_solve_in_ranking_and_labels(problem):
    X, Y, k = problem
    shares, counts = naive.tram(naive.tram_graph(X.tolist(), k), Y)
    model = TRAMClassifier(k=k, prior_weight=0.0).fit(X[: len(Y)], Y)
    scores = model.decision_function(X[len(Y) :])
    expected = top_labels(shares, counts)
    np.testing.assert_array_equal(model.predict(X[len(Y) :]), expected)
    np.testing.assert_array_equal(scores > 0, expected)
    for f, score in zip(shares, scores, strict=True):
        above = f[:, None] > f + 1e-8
        assert (np.greater(score[:, None], score))[above].all()


def test_odds_stand_in_the_ratio_of_the_shares_and_probabilities_sum_to_the_count():
    X, Y = data(200)
    shares, counts = naive.tram(naive.tram_graph(X.tolist(), 5), Y[:60])
    model = TRAMClassifier(k=5, prior_weight=0.0).fit(X[:60], Y[:60])
    scores = model.decision_function(X[60:])
    np.testing.assert_allclose(np.exp(scores - scores[:, :1]), shares / shares[:, :1], rtol=1e-6, atol=1e-8)
    summed = model.predict_proba(X[60:]).sum(axis=1)
    untouched = np.abs(scores).min(axis=1) > 1e-6
    assert untouched.mean() > 0.3
    np.testing.assert_allclose(summed[untouched], counts[untouched], rtol=1e-7)


def test_one_label_is_scikit_learn_s_label_propagation():
    X, Y = data(120, n_labels=1)
    y = Y[:, 0]
    W = naive.tram_graph(X.tolist(), 6)
    oracle = LabelPropagation(kernel=lambda A, B: W, max_iter=100_000, tol=1e-13)
    oracle.fit(X, np.where(np.arange(120) < 50, y, -1))
    model = TRAMClassifier(k=6, prior_weight=0.0).fit(X[:50], y[:50])
    np.testing.assert_allclose(
        model.predict_proba(X[50:])[:, 1], oracle.label_distributions_[50:, 1], atol=1e-9
    )


def test_outliers_with_faint_edges_are_solved_as_exactly_as_the_others():
    X, Y = data(300)
    X[-6:] *= np.array([10, 14, 18, 22, 26, 30])[:, None]
    W = naive.tram_graph(X.tolist(), 8)
    assert W.sum(axis=1).min() < 1e-12
    shares, counts = naive.tram(W, Y[:100])
    model = TRAMClassifier(k=8, prior_weight=0.0).fit(X[:100], Y[:100])
    scores = model.decision_function(X[100:])
    np.testing.assert_allclose(np.exp(scores - scores[:, :1]), shares / shares[:, :1], rtol=1e-5)
    np.testing.assert_array_equal((scores > 0).sum(axis=1), np.floor(counts + 0.5))


def test_rows_out_of_reach_get_the_mean_of_the_labelled_rows():
    near, far = np.arange(6.0)[:, None], 1000 + np.arange(6.0)[:, None]
    Y = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0]])
    model = TRAMClassifier(k=2).fit(near[:3], Y)
    np.testing.assert_array_equal(model.predict(far), np.tile([1, 1, 0], (6, 1)))
    scores = model.decision_function(far)
    np.testing.assert_allclose(np.exp(scores[:, 0] - scores[:, 1]), (2 / 3) / (1 / 3), rtol=1e-9)


def test_scale_and_place_do_not_matter_and_labels_may_be_permuted():
    X, Y = data(150)
    expected = TRAMClassifier().fit(X[:50], Y[:50]).decision_function(X[50:])
    moved = 1000 * X + 77
    found = TRAMClassifier().fit(moved[:50], Y[:50]).decision_function(moved[50:])
    np.testing.assert_allclose(found, expected, atol=1e-7)
    found = TRAMClassifier().fit(X[:50], Y[:50, ::-1]).decision_function(X[50:])
    np.testing.assert_allclose(found[:, ::-1], expected, atol=1e-8)


def test_a_weighted_pair_enters_as_a_blend_with_the_prior():
    X, Y = data(60)
    weight = np.random.default_rng(1).choice([0.0, 0.4, 1.0, 2.5], (20, 4))
    prior = (weight * Y[:20]).sum(axis=0) / weight.sum(axis=0)
    w = np.minimum(weight, 1)
    shares, counts = naive.tram(naive.tram_graph(X.tolist(), 5), w * Y[:20] + (1 - w) * prior)
    model = TRAMClassifier(k=5).fit(X[:20], Y[:20], label_weight=weight)
    scores = model.decision_function(X[20:])
    np.testing.assert_allclose(np.exp(scores - scores[:, :1]), shares / shares[:, :1], rtol=1e-6)
    np.testing.assert_array_equal(scores > 0, top_labels(shares, counts))


def test_weight_one_changes_nothing_and_weight_zero_is_no_label():
    X, Y = data(90)
    known = np.random.default_rng(2).random((40, 4)) < 0.6
    plain = TRAMClassifier().fit(X[:40], Y[:40]).decision_function(X[40:])
    ones = TRAMClassifier().fit(X[:40], Y[:40], label_weight=np.ones((40, 4)))
    np.testing.assert_array_equal(ones.decision_function(X[40:]), plain)
    gaps = TRAMClassifier().fit(X[:40], np.where(known, Y[:40], np.nan)).decision_function(X[40:])
    for labels in (Y[:40], np.where(known, Y[:40], 1 - Y[:40])):
        model = TRAMClassifier().fit(X[:40], labels, label_weight=known.astype(float))
        np.testing.assert_array_equal(model.decision_function(X[40:]), gaps)


def test_constant_labels_rows_without_labels_one_feature_and_duplicates():
    X = np.repeat([0.0, 1.0, 5.0, 6.0], 10)[:, None]
    Y = np.zeros((40, 3), dtype=int)
    Y[:20, 1], Y[:, 2] = 1, 1
    labelled = np.arange(0, 40, 2)
    model = TRAMClassifier(k=5).fit(X[labelled], Y[labelled])
    np.testing.assert_array_equal(model.predict(X[1::2]), Y[1::2])
    for constant in (0, 1):
        same = np.full((20, 2), constant)
        np.testing.assert_array_equal(TRAMClassifier(k=5).fit(X[labelled], same).predict(X[1::2]), same)
    nowhere = np.zeros((30, 2))
    found = TRAMClassifier(k=3).fit(nowhere[:10], Y[15:25]).predict(nowhere[10:])
    np.testing.assert_array_equal(found, np.tile([0, 1, 1], (20, 1)))


def test_inputs_of_every_kind_give_the_same_and_stay_as_they_are():
    X, Y = data(80)
    before = X.copy(), Y.copy()
    X.setflags(write=False)
    Y.setflags(write=False)
    expected = TRAMClassifier().fit(X[:40], Y[:40]).predict(X[40:])
    for fitted, asked in [(sparse.csr_matrix(X), X), (X, sparse.csr_matrix(X))]:
        model = TRAMClassifier(feature_weights=None).fit(fitted[:40], Y[:40])
        np.testing.assert_array_equal(model.predict(asked[40:]), expected)
    frame, labels = pd.DataFrame(X, columns=list("abc")), pd.DataFrame(2 * Y - 1, columns=list("wxyz"))
    model = TRAMClassifier().fit(frame[:40], labels[:40])
    assert list(model.label_names_) == ["w", "x", "y", "z"]
    assert set(np.unique(model.predict(frame[40:]))) == {-1, 1}
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(Y, before[1])


def test_wrong_input_is_named():
    X, Y = data(8)
    for k in (0, 2.5):
        with pytest.raises(UserError, match="'k' parameter"):
            TRAMClassifier(k=k, prior_weight=0.0).fit(X, Y)
    with pytest.raises(UserError, match=r"k=10 neighbours"):
        TRAMClassifier().fit(X, Y).predict(X[:2])
    assert TRAMClassifier().fit(X, Y).predict(X[:3]).shape == (3, 4)


def test_labels_that_do_not_settle_are_reported(monkeypatch):
    monkeypatch.setattr("mlspl.models.tram._MAX_ITERATIONS", 2)
    X, Y = data(100)
    with pytest.warns(ConvergenceWarning, match="larger k"):
        TRAMClassifier().fit(X[:10], Y[:10]).predict(X[10:])


def test_many_rows_need_no_square_matrix():
    X, Y = data(10_000, n_features=2)
    model = TRAMClassifier().fit(X[:3000], Y[:3000])
    with little_memory(len(X) ** 2 * 8 / 10):
        model.predict(X[3000:])


FIGURES = {
    "emotions": [0.237, 0.177, 0.302, 1.86, 0.781],
    "scene": [0.094, 0.082, 0.245, 0.489, 0.855],
}


@pytest.mark.parametrize("name", FIGURES)
def test_criteria_of_the_protocol(data_home, name):
    dataset = load_dataset(name, data_home=data_home)
    scores = []
    for split in range(10):
        train, test = protocol_split(len(dataset.Y), split)
        scaler = StandardScaler().fit(dataset.X[train])
        model = TRAMClassifier().fit(scaler.transform(dataset.X[train]), dataset.Y[train])
        F = model.decision_function(scaler.transform(dataset.X[test]))
        scores.append(list(score_all(dataset.Y[test], F, F > 0).values()))
    # Within one standard deviation of a split.
    assert np.all(np.abs(np.mean(scores, axis=0) - FIGURES[name]) <= np.std(scores, axis=0))


def hub_data(n=300, n_labels=8, seed=0):
    """Rows whose neighbours tell nothing; labels of frequencies from a half downwards."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 20)), (rng.random((n, n_labels)) < 0.5 ** np.arange(1, n_labels + 1)).astype(
        int
    )


def test_neighbours_that_tell_nothing_give_way_to_the_frequencies():
    X, Y = hub_data()
    model = TRAMClassifier().fit(X[:150], Y[:150])
    published = TRAMClassifier(prior_weight=0.0).fit(X[:150], Y[:150])
    alone = np.tile(Y[:150].mean(axis=0), (150, 1))
    precision = [average_precision(Y[150:], m.decision_function(X[150:])) for m in (model, published)]
    assert model.prior_weight_ > 0.5
    assert precision[0] > precision[1] + 0.02
    assert precision[0] > average_precision(Y[150:], alone) - 0.02


def test_neighbours_that_tell_much_are_left_to_tell_it():
    X, Y = data(200)
    assert TRAMClassifier().fit(X, Y).prior_weight_ == 0.0


@pytest.mark.parametrize("weight", [0.3, 1.0])
def test_the_prior_weight_is_that_of_the_mean_share(weight):
    X, Y = data(120)
    shares, _ = naive.tram(naive.tram_graph(X.tolist(), 5), Y[:60])
    prior = naive_shares(Y[:60]).mean(axis=0)
    model = TRAMClassifier(k=5, prior_weight=weight).fit(X[:60], Y[:60])
    scores = model.decision_function(X[60:])
    mixed = (1 - weight) * shares + weight * prior
    np.testing.assert_allclose(np.exp(scores - scores[:, :1]), mixed / mixed[:, :1], rtol=1e-6, atol=1e-8)


def naive_shares(Y):
    return np.array([y / max(y.sum(), 1) for y in Y])

"""The C of "auto" in linear and Nyström spaces: the best of a grid for rows held out, beside a plain loop."""

import numpy as np
import pytest
from scipy import sparse

from mlspl import BSVMClassifier, MLLOCClassifier, MLSPLClassifier
from mlspl.models import _space_classifier
from mlspl.spaces import Linear, Nystroem


def made(n=400, d=60, n_labels=5, scale=1.0, seed=0):
    """Rows of which few features matter, with as much noise again: too large a C overfits."""
    rng = np.random.default_rng(seed)
    X = scale * rng.normal(size=(n, d))
    scores = X[:, :n_labels] / scale + rng.normal(size=(n, n_labels))
    return X, (scores > 1.0).astype(int)


X_NEW = made(seed=1)[0]


def plain(Y, weight=None):
    return np.ones(Y.shape) if weight is None else weight


@pytest.mark.filterwarnings("ignore:.*predicts no label")
@pytest.mark.parametrize("space", [Linear(tol=1e-8), Nystroem(gamma=0.01, n_landmarks=40, random_state=0)])
def test_it_is_the_least_held_out_loss_of_a_plain_loop(space):
    X, Y = made()
    order = np.random.RandomState(0).permutation(len(X))
    test, train = np.sort(order[: len(X) // 3]), np.sort(order[len(X) // 3 :])
    losses = {}
    for factor in np.sqrt(10.0) ** np.arange(-2, 5):
        C = space.unit_cost(X) * factor
        model = BSVMClassifier(C, space=space).fit(X[train], Y[train])
        margins = np.where(Y[test], 1.0, -1.0) * model.decision_function(X[test])
        losses[C] = np.logaddexp(0.0, -margins).sum()
    expected = min(losses, key=losses.get)
    assert list(losses).index(expected) not in (0, len(losses) - 1)
    assert _space_classifier.choose_C(space, X, Y, None, plain)[0] == pytest.approx(expected, rel=1e-9)


def test_machines_that_see_cross_fitted_codes_are_chosen_as_they_are_fitted():
    """Of the estimator itself, fitted to two thirds at every C of the grid, the least loss of the others."""
    X, Y = made()
    order = np.random.RandomState(0).permutation(len(X))
    test, train = np.sort(order[: len(X) // 3]), np.sort(order[len(X) // 3 :])
    space = Nystroem(gamma=0.01, n_landmarks=40, tol=1e-6, random_state=0)
    estimator = MLSPLClassifier(pace_function=None, space=space, class_weight=None, random_state=0)
    losses = {}
    for C in np.sqrt(10.0) ** np.arange(-2, 5):
        model = estimator.set_params(C=C).fit(X[train], Y[train]).model_
        margins = np.where(Y[test], 1.0, -1.0) * model.scores(X[test])
        losses[C] = np.logaddexp(0.0, -margins).sum()
    expected = min(losses, key=losses.get)
    assert list(losses).index(expected) not in (0, len(losses) - 1)
    assert pytest.approx(expected, rel=1e-9) == estimator.set_params(C="auto").fit(X, Y).C_


@pytest.mark.parametrize("estimator", [BSVMClassifier, MLSPLClassifier, MLLOCClassifier])
def test_rows_of_any_length_get_their_own(estimator):
    """A hundred times longer: ten thousand times less, but for the bias, which has no length."""
    fitted = [estimator(space="linear", random_state=0).fit(*made(scale=scale)) for scale in (1.0, 100.0)]
    assert 1e3 <= fitted[0].C_ / fitted[1].C_ <= 1e5
    given = estimator(C=fitted[0].C_, space="linear", random_state=0).fit(*made())
    np.testing.assert_array_equal(given.decision_function(X_NEW), fitted[0].decision_function(X_NEW))


def test_it_does_not_depend_on_containers_threads_or_pairs_without_weight():
    X, Y = made()
    weight = (np.random.default_rng(1).random(Y.shape) < 0.8).astype(float)
    C = BSVMClassifier(space="linear").fit(X, Y, weight).C_
    others = [
        BSVMClassifier(space="linear", n_jobs=2).fit(X, Y, weight),
        BSVMClassifier(space="linear").fit(sparse.csr_array(X), sparse.csr_array(Y), weight),
        BSVMClassifier(space="linear").fit(X, np.where(weight > 0, Y, np.nan)),
    ]
    assert [model.C_ for model in others] == pytest.approx([C] * 3, rel=1e-9)


def test_a_sample_will_do(monkeypatch):
    """Of the rows and of the labels, of which the most frequent are asked."""
    X, Y = made(n_labels=6)
    Y[:, 3:] = 0
    Y[0, 3:] = 1
    seen = []
    solve = Linear().prepare(X).__class__.solve
    monkeypatch.setattr(
        "mlspl.spaces.linear.LinearRows.solve",
        lambda self, signs, *rest: seen.append(signs) or solve(self, signs, *rest),
    )
    monkeypatch.setattr(_space_classifier, "_ROWS", 90)
    monkeypatch.setattr(_space_classifier, "_LABELS", 3)
    assert _space_classifier.choose_C(Linear(), X, Y, None, plain)[0] > 0
    assert all(signs.shape == (3, 60) and (signs > 0).sum() > 10 for signs in seen)


def test_two_rows_get_the_unit():
    X, Y = np.array([[3.0, 4.0], [0.0, 5.0]]), np.array([[1, 0], [0, 1]])
    assert pytest.approx(1 / 25) == BSVMClassifier(space="linear").fit(X, Y).C_


@pytest.mark.parametrize("estimator", [BSVMClassifier, MLSPLClassifier])
@pytest.mark.parametrize("C", ["auto", 1.0])
def test_many_dense_rows_take_landmarks_only_where_they_gain(estimator, C, monkeypatch):
    monkeypatch.setattr("mlspl.spaces.choice._GRAM_ROWS", 100)
    X = np.random.default_rng(0).normal(size=(400, 4))
    curved, straight = np.abs(X) > 0.7, X > 0.3
    for Y, name in ((curved, "nystroem"), (straight, "linear")):
        model = estimator(C=C, random_state=0)
        assert model.fit(X, Y).space_.startswith(name)
        named = model.set_params(space=name, C=model.C_)
        np.testing.assert_array_equal(
            named.fit(X, Y).decision_function(X),
            model.set_params(space="auto").fit(X, Y).decision_function(X),
        )

"""Linear and Nyström spaces beside Gram, and the choice between the three."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_approximation import Nystroem as SklearnNystroem
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from mlspl import (
    BSVMClassifier,
    MLLOCClassifier,
    MLSPLClassifier,
    MLSPLClassifierCV,
    datasets,
    load_model,
    save_model,
)
from mlspl.errors import UserError
from mlspl.metrics import average_precision
from mlspl.spaces import Gram, Linear, Nystroem, choose_space
from mlspl.spaces.nystroem import count_columns


@pytest.fixture(scope="module")
def digits():
    data = datasets.load_dataset("digits-traits")
    X = data.X / 16.0
    return X[:240], np.asarray(data.Y[:240]), X[240:480], np.asarray(data.Y[240:480])


@pytest.fixture(scope="module")
def signs(digits):
    return np.where(digits[1].T == 1, 1.0, -1.0)


def machines_of(space, X, signs, C=1.0):
    rows = space.prepare(X)
    return rows, rows.solve(signs, np.full(signs.shape, C))


@pytest.mark.parametrize("space", [Linear(), Nystroem(n_landmarks=60, random_state=0)])
def test_a_model_scores_its_training_rows_as_the_machines_do(space, digits, signs):
    X = digits[0]
    rows, machines = machines_of(space, X, signs)
    # The map of Nystroem is float32.
    np.testing.assert_allclose(
        rows.make_model(machines.coef, machines.intercept).scores(X), machines.scores, atol=2e-3
    )


@pytest.mark.parametrize("space", [Linear(tol=1e-6), Nystroem(n_landmarks=60, tol=1e-6, random_state=0)])
def test_rows_left_out_are_rows_of_no_cost(space, digits, signs):
    X, train, test = digits[0], np.arange(160), np.arange(160, 240)
    inner, held_out = space.prepare(X).split(train, test)
    part = inner.solve(signs[:, train], np.ones((len(signs), 160)))
    scores = held_out(part.coef, part.intercept)
    np.testing.assert_allclose(scores, inner.make_model(part.coef, part.intercept).scores(X[test]), atol=2e-3)
    if isinstance(space, Linear):
        costs = np.ones(signs.shape)
        costs[:, test] = 0.0
        whole = space.prepare(X).solve(signs, costs)
        np.testing.assert_allclose(whole.scores[test], scores, atol=0.05)


def test_linear_and_nystroem_agree_on_a_linear_kernel(digits, signs):
    """With all rows as landmarks the map spans what the features span."""
    X = digits[0]
    _, linear = machines_of(Linear(tol=1e-7), X, signs, 0.1)
    _, mapped = machines_of(Nystroem("linear", n_landmarks=len(X), tol=1e-7), X, signs, 0.1)
    # ½‖w − w*‖² ≤ tol · objective, of about 10, and float32 maps.
    np.testing.assert_allclose(mapped.scores, linear.scores, atol=0.02)


def test_nystroem_nears_the_kernel_as_landmarks_grow(digits):
    X = digits[0]
    K = rbf_kernel(X, gamma=Gram().prepare(X)._kernel["gamma"])
    errors = []
    for m in (20, 80, 240):
        Z = Nystroem(n_landmarks=m, random_state=0).prepare(X)._X
        errors.append(np.abs(Z @ Z.T - K).max())
    assert errors[2] < 1e-3 < errors[1] < errors[0]


def test_the_map_of_scikit_learn(digits):
    X = digits[0]
    rows = Nystroem(gamma=0.01, n_landmarks=50, random_state=3).prepare(X)
    peer = SklearnNystroem(gamma=0.01, n_components=50, random_state=0)
    theirs = peer.fit(X[rows._landmarks]).transform(X)
    Z = rows._X[:, : -X.shape[1]]
    np.testing.assert_allclose(Z @ Z.T, theirs @ theirs.T, atol=1e-3)


@pytest.mark.parametrize("place", [np.asarray, sparse.csr_matrix])
def test_beside_the_map_are_features_less_what_landmarks_tell_of_them(place, digits):
    X = digits[0] + 5.0
    rows = Nystroem(gamma=0.1, n_landmarks=50, random_state=3).prepare(place(X))
    S = X[rows._landmarks]
    interpolated = rbf_kernel(X, S, gamma=0.1) @ np.linalg.solve(rbf_kernel(S, gamma=0.1), S - S.mean(axis=0))
    scale = np.sqrt(0.1 / np.mean(np.sum((S - S.mean(axis=0)) ** 2, axis=1)))
    rest = scale * (X - S.mean(axis=0) - interpolated)
    beside = rows._X[:, -X.shape[1] :]
    # They are up to .1, of float32, by a kernel of distances between rows of length 40.
    np.testing.assert_allclose(beside, rest, atol=1e-6)
    np.testing.assert_allclose(beside[rows._landmarks], 0.0, atol=1e-6)
    assert np.abs(rest).max() > 0.05


@pytest.mark.parametrize(
    ("asked", "shape", "found"),
    [
        ("auto", (50_000, 384), (1016, 384)),
        ("auto", (50_000, 700), (700, 700)),
        ("auto", (50_000, 701), (1400, 0)),
        ("auto", (1000, 384), (1000, 0)),
        ("auto", (1_000_000, 384), (616, 384)),
        ("auto", (1_000_000, 600), (1000, 0)),
        (400, (1_000_000, 600), (400, 600)),
        (400, (300, 20), (300, 0)),
    ],
)
def test_landmarks_and_features_share_the_columns_there_are(asked, shape, found, monkeypatch):
    monkeypatch.setattr("mlspl.spaces.nystroem.available_memory", lambda: 16e9)
    assert count_columns(asked, *shape) == found


def test_out_of_fold_regressions_are_fits_without_the_fold(digits):
    X, Y = digits[0], digits[1].astype(float)
    folds = [(np.arange(120), np.arange(120, 240)), (np.arange(120, 240), np.arange(120))]
    rows = Linear().prepare(X)
    regression = rows.regress(Y, "ridge", folds)
    for train, test in folds:
        inner, held_out = rows.split(train, test)
        alone = inner.regress(Y[train], "ridge")
        np.testing.assert_allclose(
            regression.out_of_fold[test], held_out(alone.coef, alone.intercept), atol=0.03
        )


def test_ridge_predictions_of_codes_sum_to_one(digits):
    codes = np.eye(3)[np.arange(240) % 3]
    rows = Linear().prepare(digits[0])
    ridge = rows.regress(codes, "ridge")
    np.testing.assert_allclose(
        rows.make_model(ridge.coef, ridge.intercept).scores(digits[2]).sum(axis=1), 1.0, atol=1e-3
    )


@pytest.mark.parametrize("container", [sparse.csr_array, lambda X: X.astype(np.float32)])
def test_rows_in_any_form(container, digits, signs):
    X = digits[0]
    _, expected = machines_of(Linear(tol=1e-7), X, signs)
    _, found = machines_of(Linear(tol=1e-7), container(X), signs)
    # ½‖w − w*‖² ≤ 1e-7 of an objective of about 100, rows of length 3.
    np.testing.assert_allclose(found.scores, expected.scores, atol=0.02)


SPARSE = sparse.csr_matrix((90_000, 1000))
DENSE = np.broadcast_to(0.0, (90_000, 1000))


@pytest.mark.parametrize(
    ("space", "X", "gram", "kind", "reason"),
    [
        ("auto", SPARSE, Gram(), Linear, "X is sparse"),
        ("auto", SPARSE[:500], Gram(), Linear, "X is sparse"),
        ("auto", SPARSE[:500], Gram(polynomial_kernel), Gram, "few enough"),
        ("auto", DENSE, Gram(), Nystroem, "X is dense"),
        ("auto", DENSE, Gram("linear"), Linear, "kernel is linear"),
        ("auto", DENSE[:500], Gram(), Gram, "few enough"),
        ("auto", SPARSE, Gram("precomputed"), Gram, "precomputed"),
        ("gram", SPARSE, Gram(), Gram, "as asked for"),
        ("linear", SPARSE, Gram(), Linear, "as asked for"),
        (Linear(), SPARSE, Gram(), Linear, "as given"),
    ],
)
def test_the_choice_of_a_space(space, X, gram, kind, reason):
    choice = choose_space(space, X, gram)
    assert type(choice.space) is kind
    assert reason in choice.reason
    assert (choice.faster is not None) == (space == "auto" and kind is Nystroem)


def test_spaces_declare_what_they_can_do():
    declared = [(s.many_rows, s.on_features, hasattr(s, "gamma")) for s in (Gram(), Linear(), Nystroem())]
    assert declared == [(False, False, True), (True, True, False), (True, False, True)]


def test_choices_that_cannot_be():
    with pytest.raises(UserError, match="'auto', 'gram', 'linear', 'nystroem' or a Space"):
        choose_space("cubic", SPARSE, Gram())
    with pytest.raises(UserError, match="n_landmarks is 0"):
        Nystroem(n_landmarks=0).prepare(np.eye(3))
    with pytest.raises(UserError, match="use space='gram'"):
        Nystroem("precomputed").prepare(np.eye(3))


ESTIMATORS = {
    "bsvm": lambda **p: BSVMClassifier(gamma="scale", **p),
    "ml-loc": lambda **p: MLLOCClassifier(gamma="scale", regressor="ridge", **p),
    "mlspl": MLSPLClassifier,
    "mlspl-cv": lambda n_landmarks, **p: MLSPLClassifierCV(budget="fast", C=(1.0,), **p),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_learns_in_every_space(name, digits):
    X, Y, X_new, Y_new = digits
    reached = {}
    for space in ("gram", "linear", "nystroem"):
        model = ESTIMATORS[name](space=space, n_landmarks=60, random_state=0).fit(X, Y)
        assert model.space_.startswith(space)
        scores = model.decision_function(X_new)
        np.testing.assert_array_equal(scores, model.decision_function(X_new))
        reached[space] = average_precision(Y_new, scores)
    assert reached["gram"] - reached["nystroem"] < 0.04
    assert reached["linear"] > 0.8


@pytest.mark.parametrize("space", ["linear", "nystroem"])
def test_model_files(space, digits, tmp_path):
    model = MLSPLClassifier(space=space, n_landmarks=30, random_state=0).fit(*digits[:2])
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    assert loaded.space_ == model.space_
    np.testing.assert_array_equal(loaded.decision_function(digits[2]), model.decision_function(digits[2]))


def test_float32_rows_are_not_copied_to_float64(digits, monkeypatch):
    X = np.ascontiguousarray(digits[0], dtype=np.float32)
    seen = []
    place = Linear.prepare
    monkeypatch.setattr(Linear, "prepare", lambda self, X: seen.append(X) or place(self, X))
    MLSPLClassifier(space="linear", random_state=0).fit(X, digits[1])
    assert np.shares_memory(seen[-1], X)


@pytest.mark.parametrize(
    "model",
    [
        BSVMClassifier(),
        MLLOCClassifier(regressor="ridge", random_state=0),
        MLSPLClassifier(random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_refusal_names_a_setting_that_works_and_a_fit_says_what_it_took(model, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(1500, 5)), rng.random((1500, 2)) < 0.5
    monkeypatch.setenv("MLSPL_MEMORY", "1.6e7")
    model.set_params(space="gram")
    with pytest.raises(UserError, match=r"space='(linear|nystroem)'") as refusal:
        model.fit(X, Y)
    space = str(refusal.value).split("space='")[1].split("'")[0]
    model.set_params(space=space)
    if "n_landmarks" in model.get_params():
        model.set_params(n_landmarks=50)
    if hasattr(model, "verbose"):
        model.set_params(verbose=1)
    model.fit(X, Y)
    assert model.space_.startswith(f"{space} space")
    told = capsys.readouterr()
    assert told.out == ""
    assert (f"{type(model).__name__}: {model.space_}." in told.err) == hasattr(model, "verbose")

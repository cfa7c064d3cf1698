"""Every estimator on every odd input: it works, and as on the plain input where it should.

Warnings are errors here, and no case may change what it was given.
"""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning

from mlspl import MLkNNClassifier, SelfPacedClassifier
from tests.models.odd_inputs import (
    ESTIMATORS,
    FEATURES,
    KERNELS,
    LABELS,
    X_NEW,
    L,
    N,
    X,
    Y,
    every_estimator,
    fitted,
    messy,
    put,
    strided,
)


def long_indices(table):
    """CSR with indices as wide as only matrices beyond 2³¹ values need them."""
    narrow = sparse.csr_array(table)
    return sparse.csr_array((narrow.data, narrow.indices.astype(np.int64), narrow.indptr.astype(np.int64)))


@pytest.fixture(scope="module")
def plain_scores():
    return {name: fitted(name, X, Y).decision_function(X_NEW) for name in ESTIMATORS}


read_only = X.copy(), Y.copy()
for array in read_only:
    array.flags.writeable = False

SAME = {
    "lists": (X.tolist(), Y.tolist()),
    "read-only": read_only,
    "with gaps in memory": (strided(X), strided(Y)),
    "Fortran order": (np.asfortranarray(X), np.asfortranarray(Y)),
    "float32": (X.astype(np.float32), Y.astype(np.float32)),
    "longdouble, big-endian": (X.astype(np.longdouble), Y.astype(">i4")),
    "int8 sixteenths": ((16 * X).astype(np.int8), Y.astype(np.uint8)),
    "objects": (X.astype(object), Y.astype(object)),
    "numbers as text": (X.astype(str), Y.astype(bool)),
    "minus and plus one": (X, np.where(Y, 1, -1)),
    "sparse labels with zeros, unsorted": (X, messy(Y)),
    "pandas": (pd.DataFrame(X, columns=FEATURES), pd.DataFrame(Y, columns=LABELS)),
    "pandas, another index": (pd.DataFrame(X, index=range(90, 90 - N, -1)), pd.DataFrame(Y)),
    "pandas, nullable": (pd.DataFrame(X).astype("Float64"), pd.DataFrame(Y).astype("Int64")),
    "polars": (pl.DataFrame(X, schema=FEATURES), pl.DataFrame(Y, schema=LABELS)),
    "nothing masked": (np.ma.masked_array(X), np.ma.masked_array(Y)),
}


@every_estimator
@pytest.mark.parametrize("case", SAME)
def test_same_as_plain(name, case, plain_scores):
    features, labels = SAME[case]
    model = fitted(name, features, labels)
    # Sixteenths in integers are another unit, which only the classifier of self-paced learning minds.
    factor = 16 if case.startswith("int8") else 1
    if factor == 1 or name != "self-paced":
        new = factor * X_NEW
        if hasattr(model, "feature_names_in_"):
            new = pd.DataFrame(new, columns=model.feature_names_in_)
        np.testing.assert_array_equal(model.decision_function(new), plain_scores[name])
    if case == "minus and plus one":
        assert set(np.unique(model.predict(X_NEW))) <= {-1, 1}
    if case in ("pandas", "polars"):
        assert list(model.feature_names_in_) == FEATURES
        assert list(model.label_names_) == LABELS


SPARSE = {
    "CSR with zeros, unsorted": messy(np.where(np.abs(X) < 0.5, 0.0, X)),
    "CSR with 64-bit indices": long_indices(np.where(np.abs(X) < 0.5, 0.0, X)),
    "CSC": sparse.csc_matrix(np.where(np.abs(X) < 0.5, 0.0, X)),
    "COO array": sparse.coo_array(np.where(np.abs(X) < 0.5, 0.0, X)),
    "pandas of sparse columns": pd.DataFrame.sparse.from_spmatrix(
        sparse.csr_matrix(np.where(np.abs(X) < 0.5, 0.0, X)), columns=FEATURES
    ),
}


@every_estimator
def test_sparse_as_dense(name):
    """Sums over sparse rows round differently, so the solvers end at other points within their tolerance.

    That is 1e-3 of a training score. Weights and codes carry it on to new rows, doubled at most.
    """
    dense = np.where(np.abs(X) < 0.5, 0.0, X)
    if name in ("ml-knn", "tram"):  # they weigh the features of sparse rows
        dense = sparse.csr_matrix(dense)
    scores = fitted(name, dense, Y).decision_function(X_NEW)
    for case, features in SPARSE.items():
        model = fitted(name, features, Y)
        new = pd.DataFrame(X_NEW, columns=FEATURES) if hasattr(model, "feature_names_in_") else X_NEW
        tolerance = 2e-3 if name in KERNELS | {"mlspl-cv", "tuned"} else 1e-6
        np.testing.assert_allclose(
            model.decision_function(new), scores, atol=tolerance, rtol=tolerance, err_msg=case
        )
    sparse_new = sparse.csr_matrix(X_NEW)
    np.testing.assert_allclose(
        fitted(name, dense, Y).decision_function(sparse_new), scores, atol=1e-6, rtol=1e-6
    )


@every_estimator
@pytest.mark.parametrize("power", [160, -160])
def test_the_unit_of_the_features_does_not_matter(name, power, plain_scores):
    """A power of two changes no digit; γ follows by its "scale" rule, as do neighbours and TRAM's σ."""
    unit = 2.0 ** (power if name not in ("forest", "mlspl-cv") else power // 2)  # trees read float32
    if name == "self-paced":
        if power > 0:
            with pytest.warns(
                (ConvergenceWarning, UserWarning)
            ):  # scikit-learn's logistic regression does mind
                fitted(name, unit * X, Y)
        return
    scores = fitted(name, unit * X, Y).decision_function(unit * X_NEW)
    np.testing.assert_array_equal(scores, plain_scores[name])


WORKS = {
    "one feature": (X[:, :1], Y),
    "one label": (X, Y[:, :1]),
    "one label, absent": (X, 0 * Y[:, :1]),
    "one label, present": (X, 0 * Y[:, :1] + 1),
    "one-dimensional": (X, Y[:, 0]),
    "one-dimensional text": (X, np.where(Y[:, 0], "yes", "no")),
    "all zero": (X, 0 * Y),
    "all one": (X, 0 * Y + 1),
    "one absent, one present": (X, np.column_stack([0 * Y[:, 0], 0 * Y[:, 0] + 1, Y[:, 2:]])),
    "rows without labels": (X, np.where(np.arange(N)[:, None] < 10, 0, Y)),
    "five rows": (X[:5], Y[:5]),
    "an unknown label": (X, put(Y, slice(None), 1, np.nan)),
    "an unknown row": (X, put(Y, 3, slice(None), np.nan)),
    "a missing label in pandas": (X, pd.DataFrame(put(Y, 3, 1, np.nan)).astype("Int64")),
    "a missing label in polars": (X, pl.DataFrame([[None, *row[1:]] for row in Y.tolist()], orient="row")),
    "a masked label": (X, np.ma.masked_array(Y, Y * (np.arange(N)[:, None] < 5))),
    "constant features": (0 * X + 3, Y),
    "equal rows": (np.repeat(X[:1], N, axis=0), Y),
    "tiny features beside others": (X * [1, 1e-300, 1e-160, 1, 1], Y),
    "tiny features": (1e-100 * X, Y),
    "far from zero": (X + 1e9, Y),
    "largest unsigned integers": ((X > 0).astype(np.uint64) * np.uint64(2**64 - 1), Y),
}


@every_estimator
@pytest.mark.parametrize("case", WORKS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of the logistic regression
def test_works(name, case):
    features, labels = WORKS[case]
    model = fitted(name, features, labels)
    new = features[:6]
    scores, predicted, probabilities = (
        method(new) for method in (model.decision_function, model.predict, model.predict_proba)
    )
    shape = (len(new),) if np.ndim(labels) == 1 else (len(new), labels.shape[1])
    assert scores.shape == predicted.shape == shape
    assert np.isfinite(scores).all()
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    if case in ("all zero", "one label, absent"):
        assert not predicted.any()
    if case in ("all one", "one label, present"):
        assert predicted.all()
    if case == "one absent, one present":
        assert not predicted[:, 0].any()
        assert predicted[:, 1].all()
    if case == "one-dimensional text":
        assert set(predicted) <= {"no", "yes"}


SMALL = {
    1: {"ml-knn": "at least 5 training rows", "tram": "are 2",
        "mlspl-cv": "at least 4 rows", "tuned": "at least two rows"},
    2: {"ml-knn": "at least 5 training rows", "tram": "are 3",
        "mlspl-cv": "at least 4 rows"},
}  # fmt: skip


@every_estimator
@pytest.mark.parametrize("n", SMALL)
def test_one_and_two_rows(name, n):
    if name in SMALL[n]:
        with pytest.raises(ValueError, match=SMALL[n][name]):
            fitted(name, X[:n], Y[:n]).predict(X_NEW[:1])
        return
    model = fitted(name, X[:n], Y[:n])
    predicted = model.predict(X[:n])
    if n == 1:
        np.testing.assert_array_equal(predicted, Y[:1])
    # Two rows are enough for cross-fitted codes, whose held-out scores MLSPL's probabilities come from.
    if name in KERNELS and (name, n) != ("mlspl", 2):
        with pytest.raises(ValueError, match=f"{n} training row"):
            model.predict_proba(X_NEW)
    else:
        assert model.predict_proba(X_NEW).shape == (8, L)


@every_estimator
def test_new_rows_in_any_memory_give_the_same(name, plain_scores):
    model = fitted(name, X, Y)
    fixed = X_NEW.copy()
    fixed.flags.writeable = False
    for new in (fixed, strided(X_NEW), np.asfortranarray(X_NEW), X_NEW.astype(np.float32), X_NEW.tolist()):
        np.testing.assert_array_equal(model.decision_function(new), plain_scores[name])


def test_a_classifier_that_takes_nan_gets_it():
    few = SelfPacedClassifier(HistGradientBoostingClassifier(max_iter=2), random_state=0)
    gaps = put(X, 3, 2, np.nan)
    assert few.fit(gaps, Y[:, :2]).predict(gaps).shape == (N, 2)
    with pytest.raises(ValueError, match="is inf"):
        few.fit(put(X, 3, 2, np.inf), Y[:, :2])


@every_estimator
def test_unknown_labels_are_left_out_of_the_score(name):
    """Subset accuracy: a row is right if all that is known of it is."""
    model = fitted(name, X, Y)
    predicted = model.predict(X)
    assert model.score(X, Y) == (predicted == Y).all(axis=1).mean()
    hidden = np.where(np.arange(Y.size).reshape(Y.shape) % 3 == 0, np.nan, Y)
    expected = ((predicted == Y) | np.isnan(hidden)).all(axis=1).mean()
    assert model.score(X, hidden) == expected
    with pytest.raises(ValueError, match="y has shape"):
        model.score(X, Y[:-1])


def test_label_names_joined_by_commas_are_questioned():
    y = np.array(["a,b", "c"] * 10)
    with pytest.warns(UserWarning, match="several labels"):
        MLkNNClassifier().fit(np.arange(40.0).reshape(20, 2), y)

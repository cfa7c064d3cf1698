"""A parameter that is none is refused at fit, by name, with what to give."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import mlspl
from mlspl.errors import UserError

X = np.random.RandomState(0).normal(size=(12, 3))
Y = (X[:, :2] > 0).astype(int)
ESTIMATORS = [
    mlspl.BSVMClassifier(),
    mlspl.MLLOCClassifier(),
    mlspl.MLSPLClassifier(),
    mlspl.MLSPLClassifierCV(),
    mlspl.MLkNNClassifier(k=3),
    mlspl.RankSVMClassifier(),
    mlspl.SelfPacedClassifier(LogisticRegression()),
    mlspl.SelfPacedForestClassifier(),
    mlspl.TRAMClassifier(k=3),
    mlspl.TunedDecisionClassifier(mlspl.BSVMClassifier()),
]
WRONG = {
    "C": (-1, 0, np.inf, "1"),
    "beta": (-1.0, np.nan),
    "codes": ("out-of-sample", 3),
    "cv": (1, 2.5, "five"),
    "gamma": ("wide", 0, -1.0),
    "k": (0, 2.5),
    "kernel": ("gaussian", 7),
    "max_iter": (0, 1.5),
    "max_steps": (0, "many"),
    "n_codes": (0, 1.5),
    "n_estimators": (0, "300"),
    "n_folds": (1, 3.0),
    "n_jobs": (0, "all"),
    "prior_weight": (-0.1, 2, "none"),
    "s": (0, -1.0),
    "target_weight": (0.0, "all"),
    "tol": (0.0, -1e-3),
    "verbose": ("loud", None),
}
CASES = [
    pytest.param(estimator, name, value, id=f"{type(estimator).__name__}-{name}-{value}")
    for estimator in ESTIMATORS
    for name, default in estimator.get_params(deep=False).items()
    for value in WRONG.get(name, ())
    if value is not None or default is not None
]


@pytest.mark.parametrize(("estimator", "name", "value"), CASES)
def test_it_is_refused_by_name(estimator, name, value):
    parameters = estimator.get_params(deep=False) | {name: value}
    with pytest.raises(UserError, match=f"'{name}' parameter of|^{name} is"):
        type(estimator)(**parameters).fit(X, Y)


@pytest.mark.parametrize("values", [(), (1.0, -1.0)])
def test_so_is_one_of_several_values(values):
    with pytest.raises(UserError, match="C is"):
        mlspl.MLSPLClassifierCV(C=values).fit(X, Y)


def test_the_word_for_a_default_is_said():
    with pytest.raises(UserError, match=r"'C' parameter.*'auto'"):
        mlspl.BSVMClassifier(C=-1).fit(X, Y)


def test_numpy_numbers_are_numbers():
    mlspl.MLkNNClassifier(k=np.int64(3), s=np.float32(1.0)).fit(X, Y)

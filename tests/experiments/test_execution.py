"""A trial's numbers are those anyone computes from the sentence of the protocol."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from mlspl.datasets import Dataset, corrupt, load_dataset
from mlspl.experiments import Store, execution, plan_trials, run_trial
from mlspl.metrics import PAPER_CRITERIA, score_all
from mlspl.models import MLkNNClassifier
from mlspl.recipes import METHODS, Method


@pytest.fixture(scope="module")
def digits():
    full = load_dataset("digits-traits")
    return replace(full, X=full.X[:300], Y=full.Y[:300])


def trial_of(data, method="ml-knn", split=3, **options):
    return plan_trials({"digits": data}, [method], splits=split + 1, **options)[split]


def by_hand(data, split, share, model, train_labels=None, scaler=StandardScaler):
    p = np.random.RandomState(split).permutation(len(data.Y))
    train, test = p[: int(share * len(p))], p[int(share * len(p)) :]
    labels = data.Y[train] if train_labels is None else train_labels(data.Y[train])
    scaler = scaler().fit(data.X[train])
    model.fit(scaler.transform(data.X[train]), labels)
    new = scaler.transform(data.X[test])
    return score_all(data.Y[test], model.decision_function(new), model.predict(new))


def five(outcome):
    return {name: outcome.scores[name] for name in PAPER_CRITERIA}


def test_scores_follow_from_the_protocol(digits):
    outcome = run_trial(trial_of(digits, train=(0.4,)), digits)
    assert five(outcome) == by_hand(digits, 3, 0.4, MLkNNClassifier())
    assert set(outcome.scores) > set(PAPER_CRITERIA)
    assert outcome.error is None
    assert outcome.fit_seconds > 0
    assert outcome.versions["numpy"] == np.__version__


def test_corruption_falls_on_the_training_labels_alone(digits):
    outcome = run_trial(trial_of(digits, corruption="flip:0.2"), digits)
    expected = by_hand(
        digits, 3, 0.3, MLkNNClassifier(), lambda Y: corrupt(Y, "flip", 0.2, random_state=3)[0]
    )
    assert five(outcome) == expected
    assert expected != by_hand(digits, 3, 0.3, MLkNNClassifier())


def test_sparse_data_is_divided_and_stays_sparse(digits):
    csr = replace(digits, X=sparse.csr_array(digits.X))
    outcome = run_trial(trial_of(csr), csr)
    assert five(outcome) == by_hand(csr, 3, 0.3, MLkNNClassifier(), scaler=MaxAbsScaler)


def test_an_error_is_an_outcome_and_warnings_are_kept():
    rows = np.random.default_rng(0).normal(size=(60, 3))
    nothing = Dataset(rows, np.ones((60, 2), dtype=np.int8), list("abc"), list("xy"))
    outcome = run_trial(trial_of(nothing), nothing)
    assert outcome.error is None
    assert any("ranking loss" in text.lower() for text in outcome.warnings), outcome.warnings
    assert np.isnan(outcome.scores["ranking_loss"])
    few = replace(nothing, X=rows[:20], Y=nothing.Y[:20])
    assert run_trial(trial_of(few), few).error.startswith(("ValueError", "UserError"))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_runs_repeats_itself_bit_by_bit_and_can_be_stored(digits, name, tmp_path):
    if name == "net":
        pytest.importorskip("torch")
    small = replace(digits, X=digits.X[:100], Y=digits.Y[:100])
    trial = trial_of(small, name, split=0)
    first = run_trial(trial, small)
    assert first.error is None
    if name != "mlspl-cv":  # it takes seconds, and is made of what the others are
        assert first.scores == run_trial(trial, small).scores
    assert first.scores["average_precision"] > 0.6
    assert trial.parameters.items() <= first.chosen.items()
    with Store(tmp_path / "results.db") as store:
        store.record(trial, first)
        (row,) = store.frame().to_dict("records")
    assert row["chosen"] == json.loads(json.dumps(first.chosen))
    if name.startswith("mlspl") and name != "mlspl-cv":
        assert {"pace", "objective", "in_play"} <= row["history"][-1].keys()
    if name == "mlspl-cv":
        assert "family" in row["chosen"]


def methods_with(estimator):
    return {"mine": Method("mine", "Mine", estimator, {"k": 5}, {}, libraries=("joblib",))}


def test_a_method_of_ones_own(digits):
    methods = methods_with(MLkNNClassifier)
    outcome = run_trial(replace(trial_of(digits), method="mine", parameters={"k": 10}), digits, methods)
    assert five(outcome) == by_hand(digits, 3, 0.3, MLkNNClassifier(k=10))
    assert {"joblib", "machine"} <= set(outcome.versions)
    assert "no method 'mine'" in run_trial(replace(trial_of(digits), method="mine"), digits).error


def test_seconds_hold_no_compilation(monkeypatch, digits):
    """Every process fits each method once on a few rows before it takes the time."""
    fitted = []

    def fit(self, X, Y, **weights):
        fitted.append(len(Y))
        return fit_before(self, X, Y, **weights)

    fit_before = MLkNNClassifier.fit
    monkeypatch.setattr(MLkNNClassifier, "fit", fit)
    monkeypatch.setattr(execution, "_WARM", set())
    for split in range(2):
        assert run_trial(plan_trials({"digits": digits}, ["ml-knn"], splits=2)[split], digits).error is None
    assert fitted == [40, int(0.3 * len(digits.Y)), int(0.3 * len(digits.Y))]

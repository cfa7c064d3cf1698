"""Scores of every estimator on made data, written to a file: run it as if on other machines, and compare.

``python -m tests.machines tests/stored_scores.npz`` stores what test_same_numbers.py compares with: do so
where a change of the scores is meant. Names after the file restrict the estimators.
"""

import sys

import numpy as np
from sklearn.linear_model import LogisticRegression

import mlspl

GRID = {"budget": "fast", "C": (0.5, 2.0), "quantiles": (0.5, 0.8), "families": ("kernel",)}
ESTIMATORS = {
    "bsvm": mlspl.BSVMClassifier(),
    "linear-bsvm": mlspl.BSVMClassifier(kernel="linear", class_weight=0.5),
    "ml-loc": mlspl.MLLOCClassifier(n_codes=8, random_state=0),
    "mlspl": mlspl.MLSPLClassifier(n_codes=8, random_state=0),
    "mlspl-published": mlspl.MLSPLClassifier.as_published(n_codes=8, beta=0.05, random_state=0),
    "mlspl-cv": mlspl.MLSPLClassifierCV(random_state=0, **GRID),
    "mlspl-cv-forests": mlspl.MLSPLClassifierCV(
        families=("joint", "forest"), n_estimators=40, cv=3, random_state=0
    ),
    "self-paced": mlspl.SelfPacedClassifier(LogisticRegression(), random_state=0),
    "linear-space": mlspl.MLSPLClassifier(C=1.0, space="linear", n_codes=8, random_state=0),
    "forest": mlspl.SelfPacedForestClassifier(n_estimators=20, random_state=0),
    "ranksvm": mlspl.RankSVMClassifier(),
    "ml-knn": mlspl.MLkNNClassifier(),
    "tram": mlspl.TRAMClassifier(),
    "tuned": mlspl.TunedDecisionClassifier(mlspl.BSVMClassifier()),
}


def made_data():
    """Rows whose labels depend on them and on each other; more label sets than codes."""
    random = np.random.RandomState(0)
    X = random.normal(size=(200, 10))
    Y = X @ random.normal(size=(10, 6)) + random.normal(size=(200, 6)) > 1.0
    return X[:140], Y[:140], X[140:]


def all_scores(names) -> dict[str, np.ndarray]:
    """Scores and predictions of new rows by name, and what MLSPL-CV chose."""
    X, Y, X_new = made_data()
    found = {}
    for name in names:
        model = ESTIMATORS[name].fit(X, Y)
        found[name] = model.decision_function(X_new)
        found[f"{name} labels"] = model.predict(X_new)
        if name == "mlspl-cv":
            chosen = ("family", "C", "target")
            found["members"] = np.array(
                [[str(member.get(key)) for key in chosen] for member in model.members_]
            )
    return found


if __name__ == "__main__":
    np.savez(sys.argv[1], **all_scores(sys.argv[2:] or ESTIMATORS))

"""
Thresholds for F1
=================

A classifier that ranks well may still predict badly: the cut between yes and no is a choice of its own. For
F1 on rare labels, 0 is seldom the best one. :class:`~mlspl.TunedDecisionClassifier` chooses calibration and
cuts on rows that the model has not seen.
"""

# %%
# Rare labels
# -----------
# Ten labels, some of which few rows have.

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import make_multilabel_classification

from mlspl import BSVMClassifier, TunedDecisionClassifier, metrics
from mlspl.model_selection import protocol_split

X, Y = make_multilabel_classification(
    1500, n_features=40, n_classes=10, n_labels=2, allow_unlabeled=True, random_state=3
)
Y = pd.DataFrame(Y, columns=[f"label {letter}" for letter in "abcdefghij"])
train, test = protocol_split(len(Y), split=0, train=0.5)
X = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
print(Y.mean().round(3).to_string())

# %%
# Fixed and chosen cuts
# ---------------------
# The same machines three times: cut at 0, cuts chosen for Hamming loss, cuts chosen for macro F1.

machine = BSVMClassifier(gamma="scale")
models = {
    "cut at 0": machine,
    "chosen for Hamming loss": TunedDecisionClassifier(machine),
    "chosen for macro F1": TunedDecisionClassifier(machine, criterion="macro_f1"),
}
rows = {}
for name, model in models.items():
    model.fit(X[train], Y.iloc[train])
    truth, predicted = Y.iloc[test], model.predict(X[test], output="pandas")
    rows[name] = {
        "macro F1": metrics.macro_f1(truth, predicted),
        "micro F1": metrics.micro_f1(truth, predicted),
        "Hamming loss": metrics.hamming_loss(truth, predicted),
    }
print(pd.DataFrame(rows).T.round(4).to_string())
print(model.decisions_[0])

# %%
# Which labels gain
# -----------------
# The rarer a label, the more its F1 depends on the cut.

by_label = {
    name: metrics.score_labels(Y.iloc[test], model.decision_function(X[test]), model.predict(X[test]))["f1"]
    for name, model in models.items()
}
pd.DataFrame(by_label, index=Y.columns).fillna(0.0).plot.bar(ylabel="F1 on new rows")
plt.show()

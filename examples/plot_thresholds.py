"""
Thresholds for F1
=================

A classifier that ranks well may still predict badly, because predictions also depend on thresholds. For F1 of
rare labels, 0 is seldom the best threshold. :class:`~mlspl.TunedDecisionClassifier` chooses calibration and
thresholds on out-of-fold scores.
"""

# %%
# Rare labels
# -----------
# Ten labels, some of them rare.

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
# Fixed and chosen thresholds
# ---------------------------
# The same SVMs with the threshold 0, and with thresholds chosen by Hamming loss and by macro F1.

svm = BSVMClassifier(gamma="scale")
models = {
    "threshold 0": svm,
    "chosen by Hamming loss": TunedDecisionClassifier(svm),
    "chosen by macro F1": TunedDecisionClassifier(svm, criterion="macro_f1"),
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
# The rarer a label, the more its F1 depends on the threshold.

by_label = {
    name: metrics.score_labels(Y.iloc[test], model.decision_function(X[test]), model.predict(X[test]))["f1"]
    for name, model in models.items()
}
pd.DataFrame(by_label, index=Y.columns).fillna(0.0).plot.bar(ylabel="F1 on new rows")
plt.show()

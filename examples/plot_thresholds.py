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

from mlspl import BSVMClassifier, ThresholdDisplay, TunedDecisionClassifier, metrics
from mlspl.model_selection import stratified_split

X, Y = make_multilabel_classification(
    1500, n_features=40, n_classes=10, n_labels=2, allow_unlabeled=True, random_state=3
)
Y = pd.DataFrame(Y, columns=[f"label {letter}" for letter in "abcdefghij"])
train, test = stratified_split(Y, train=0.5, random_state=0)
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
# What each cut is worth
# ----------------------
# F1 of each label on new rows against the cut of its score. The dots are the cuts that the model took: chosen
# on training rows, they need not be at the very top here.

tuned = TunedDecisionClassifier(machine, criterion="macro_f1", thresholds=["label"])
tuned.fit(X[train], Y.iloc[train])
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), sharey=True, layout="constrained")
for axis, model, title in zip(axes, (machine, tuned), ("cut at 0", "a cut a label"), strict=True):
    few = ["label a", "label c", "label e", "label g"]
    ThresholdDisplay.from_estimator(model, X[test], Y.iloc[test], labels=few, ax=axis)
    axis.set_title(title)
plt.show()

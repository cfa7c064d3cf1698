"""
Unknown labels
==============

Annotators often leave some labels of a row open. In Y such a label is NaN: the pair is left out of the fit,
and the other labels of the row are used. This is compared with two workarounds: to count unknown labels as
absent, and to leave out incomplete rows.
"""

# %%
# Make labels unknown
# -------------------
# A random share of the labels becomes NaN.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from mlspl import SelfPacedForestClassifier, datasets, metrics
from mlspl.model_selection import protocol_split

digits = datasets.load_dataset("digits-traits")
train, test = protocol_split(len(digits.Y), split=100)
X, X_test, Y_test = digits.X[train], digits.X[test], digits.Y[test]


def hide(share):
    hidden = np.random.default_rng(0).random((len(train), 8)) < share
    return pd.DataFrame(digits.Y[train], columns=digits.label_names).mask(hidden)


print(hide(0.5).head(4).to_string())

# %%
# Three ways to fit
# -----------------
# ``fit(X, Y)`` of every estimator accepts NaN in Y.


def learn(X, Y):
    return SelfPacedForestClassifier(60, pace_function=None, random_state=0).fit(X, Y)


shares = [0.1, 0.3, 0.5]
criteria = ("average_precision", "macro_f1")
rows = []
for share in shares:
    Y = hide(share)
    whole = Y.notna().all(axis=1).to_numpy()
    ways = {"unknown": (X, Y), "counted as absent": (X, Y.fillna(0))}
    if whole.sum() >= 20:
        ways["whole rows only"] = (X[whole], Y[whole])
    for name, known in ways.items():
        model = learn(*known)
        ranked, predicted = model.decision_function(X_test), model.predict(X_test)
        values = metrics.average_precision(Y_test, ranked), metrics.macro_f1(Y_test, predicted)
        rows.append(
            {"unknown": share, "way": name, "rows": len(known[1])} | dict(zip(criteria, values, strict=True))
        )
results = pd.DataFrame(rows)
print(results.round(3).to_string(index=False))

# %%
# With many unknown labels, few rows are complete. If unknown labels count as absent, the ranking hardly
# changes here, because all labels are affected alike. But probabilities become too small, and labels are
# not predicted.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for axis, criterion in zip(axes, criteria, strict=True):
    for (name, part), colour in zip(
        results.groupby("way", sort=False), ("#0072b2", "#d55e00", "#7a7a7a"), strict=True
    ):
        axis.plot(part["unknown"] * 100, part[criterion], marker="o", color=colour, label=name)
    axis.set(
        xlabel="labels unknown, %", ylabel=f"{criterion.replace('_', ' ')}, new rows", xticks=[10, 30, 50]
    )
axes[0].legend(frameon=False)
plt.show()

# %%
# Unknown labels in the test set
# ------------------------------
# Criteria also accept NaN in Y, and leave these pairs out.

gaps = Y_test.astype(float)
gaps[np.random.default_rng(1).random(gaps.shape) < 0.3] = np.nan
scores = learn(X, hide(0.3)).decision_function(X_test)
print(f"average precision, all labels known: {metrics.average_precision(Y_test, scores):.4f}")
print(f"three in ten unknown: {metrics.average_precision(gaps, scores):.4f}")

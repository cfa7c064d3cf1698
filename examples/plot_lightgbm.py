"""
LightGBM with a weight for every pair
=====================================

LightGBM learns one label at a time, and takes one weight a row. In
:class:`~mlspl.SelfPacedClassifier` it learns many labels, with weights and gaps for every (instance, label)
pair, and with a pace. Any classifier whose ``fit`` takes ``sample_weight`` can stand in its place.
"""

# %%
# The booster
# -----------
# Where LightGBM is not installed, scikit-learn's histogram gradient boosting does the same.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from mlspl import SelfPacedClassifier, datasets, metrics
from mlspl.model_selection import protocol_split

try:
    from lightgbm import LGBMClassifier

    booster = LGBMClassifier(n_estimators=50, num_leaves=15, n_jobs=1, verbose=-1, random_state=0)
except ImportError:
    from sklearn.ensemble import HistGradientBoostingClassifier

    booster = HistGradientBoostingClassifier(max_iter=50, max_leaf_nodes=15, random_state=0)
print(type(booster).__name__)

# %%
# Wrong labels
# ------------
# A share of the labels of the training rows is inverted. Boosting follows them, unless the pairs that copies
# of it find hardest, on rows they did not see, count less. Where no label is wrong, pacing gains nothing.

digits = datasets.load_dataset("digits-traits")
train, test = protocol_split(len(digits.Y), split=100)
X, X_test, Y_test = digits.X[train], digits.X[test], digits.Y[test]


def judge(model, Y, label_weight=None):
    scores = model.fit(X, Y, label_weight=label_weight).decision_function(X_test)
    return metrics.average_precision(Y_test, scores)


unpaced = SelfPacedClassifier(booster, pace_function=None, random_state=0)
paced = SelfPacedClassifier(booster, n_folds=2, random_state=0)
rates = [0.0, 0.2, 0.3]
quality = {"unpaced": [], "paced": []}
for rate in rates:
    noisy, _ = datasets.corrupt(digits.Y[train], "flip", rate, random_state=0)
    quality["unpaced"].append(judge(unpaced, noisy))
    quality["paced"].append(judge(paced, noisy))
    print(f"{rate:.0%} inverted: unpaced {quality['unpaced'][-1]:.4f}, paced {quality['paced'][-1]:.4f}")

curves = pd.DataFrame(quality, index=[100 * rate for rate in rates])
axis = curves.plot(marker="o", color={"unpaced": "#d55e00", "paced": "#0072b2"}, figsize=(6, 3.2))
axis.set(xlabel="labels inverted, %", ylabel="average precision on new rows")
plt.show()

# %%
# Two annotators
# --------------
# One looked at every label carefully. The other labelled half of the pairs in a hurry, a third of them
# wrongly. We know who gave which label: ``label_weight`` is the trust in each pair. A weight of 0, or NaN in
# Y, leaves a pair out. Pacing multiplies these weights with its own.

random = np.random.default_rng(0)
hasty = random.random((len(train), 8)) < 0.5
wrong = hasty & (random.random(hasty.shape) < 0.35)
Y = np.where(wrong, 1 - digits.Y[train], digits.Y[train])
trust = np.where(hasty, 0.2, 1.0)
print(f"all alike:    {judge(unpaced, Y):.4f}")
print(f"trusted less: {judge(unpaced, Y, trust):.4f}")
print(f"left out:     {judge(unpaced, np.where(hasty, np.nan, Y)):.4f}")

# %%
# In a notebook an estimator is a diagram that links to its page, with what was fitted below.

paced

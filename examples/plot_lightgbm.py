"""
LightGBM with a weight for every pair
=====================================

LightGBM learns one label at a time, with one weight per row. :class:`~mlspl.SelfPacedClassifier` fits a copy
for each label, with a weight for every instance-label pair, unknown labels and pacing. Any classifier whose
``fit`` takes ``sample_weight`` can be used in its place.
"""

# %%
# The classifier
# --------------
# If LightGBM is not installed, scikit-learn's histogram gradient boosting is used.

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
# A share of the training labels is inverted (planted noise). Pacing gives small weights to the pairs with
# the largest out-of-fold losses. By default, held-out rows decide whether to pace.

digits = datasets.load_dataset("digits-traits")
train, test = protocol_split(len(digits.Y), split=100)
X, X_test, Y_test = digits.X[train], digits.X[test], digits.Y[test]


def evaluate(model, Y, label_weight=None):
    scores = model.fit(X, Y, label_weight=label_weight).decision_function(X_test)
    return metrics.average_precision(Y_test, scores)


unpaced = SelfPacedClassifier(booster, pace_function=None, random_state=0)
paced = SelfPacedClassifier(booster, n_folds=2, random_state=0)
rates = [0.0, 0.2, 0.3]
quality = {"unpaced": [], "paced": []}
for rate in rates:
    noisy, _ = datasets.corrupt(digits.Y[train], "flip", rate, random_state=0)
    quality["unpaced"].append(evaluate(unpaced, noisy))
    quality["paced"].append(evaluate(paced, noisy))
    print(f"{rate:.0%} inverted: unpaced {quality['unpaced'][-1]:.4f}, paced {quality['paced'][-1]:.4f}")

curves = pd.DataFrame(quality, index=[100 * rate for rate in rates])
axis = curves.plot(marker="o", color={"unpaced": "#d55e00", "paced": "#0072b2"}, figsize=(6, 3.2))
axis.set(xlabel="labels inverted, %", ylabel="average precision on new rows")
plt.show()

# %%
# Two annotators
# --------------
# The first annotator makes no errors. The second labelled half of the pairs, and a third of these wrongly
# (planted noise). We know who gave which label, so ``label_weight`` gives the second a small weight. A
# weight of 0, or NaN in Y, leaves a pair out. Self-paced weights are multiplied by these weights.

random = np.random.default_rng(0)
second = random.random((len(train), 8)) < 0.5
wrong = second & (random.random(second.shape) < 0.35)
Y = np.where(wrong, 1 - digits.Y[train], digits.Y[train])
weight = np.where(second, 0.2, 1.0)
print(f"equal weights: {evaluate(unpaced, Y):.4f}")
print(f"small weights: {evaluate(unpaced, Y, weight):.4f}")
print(f"left out:      {evaluate(unpaced, np.where(second, np.nan, Y)):.4f}")

# %%
# In a notebook, an estimator is shown as a diagram that links to its documentation.

paced

"""
Forests when labels are wrong
=============================

A share of the training labels is inverted (planted noise). The unpaced forest, and the forest that is paced
by its out-of-bag losses, are compared on test rows with correct labels.
"""

# %%
# Invert labels
# -------------
# Handwritten digits with eight labels each: 539 training rows and 1,258 test rows.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from mlspl import SelfPacedForestClassifier, datasets, metrics
from mlspl.model_selection import protocol_split
from mlspl.pacing import QuantilePace

digits = datasets.load_dataset("digits-traits")
train, test = protocol_split(len(digits.Y), split=100)
X, X_test, Y_test = digits.X[train], digits.X[test], digits.Y[test]

# %%
# With and without pacing
# -----------------------
# ``pace_function=None`` is the forest without pacing; the seed is the same. By default the forest decides
# on held-out rows whether pacing helps.

rates = [0.0, 0.1, 0.2, 0.3]
quality = {"unpaced": [], "paced": []}
for rate in rates:
    noisy, wrong = datasets.corrupt(digits.Y[train], "flip", rate, random_state=0)
    for name, function in (("unpaced", None), ("paced", "gaussian")):
        model = SelfPacedForestClassifier(60, pace_function=function, random_state=0).fit(X, noisy)
        quality[name].append(metrics.average_precision(Y_test, model.decision_function(X_test)))
    print(f"{rate:.0%} inverted: unpaced {quality['unpaced'][-1]:.4f}, paced {quality['paced'][-1]:.4f}")

figure, axis = plt.subplots(figsize=(6, 3.4), layout="constrained")
for name, colour in (("unpaced", "#d55e00"), ("paced", "#0072b2")):
    axis.plot(np.array(rates) * 100, quality[name], marker="o", color=colour, label=name)
axis.set(xlabel="labels inverted, %", ylabel="average precision on new rows")
axis.legend(frameon=False)
plt.show()

# %%
# Weights of wrong labels
# -----------------------
# Inverted labels got smaller weights in the last fit than right ones.

right, inverted = model.label_weights_[~wrong], model.label_weights_[wrong]
figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
bins = np.linspace(0, 1, 21)
axis.hist([right, inverted], bins, density=True, color=["#0072b2", "#d55e00"], label=["right", "inverted"])
axis.set(xlabel="weight of the pair", ylabel="density", title="30 % inverted")
axis.legend(frameon=False)
plt.show()
print(f"mean weight of right labels {right.mean():.2f}, of inverted ones {inverted.mean():.2f}")

# %%
# Several steps
# -------------
# By default the forest makes at most one paced step. A schedule can make more: here from the 0.3 quantile
# of the losses of each label and class to the 0.9 quantile. ``history_`` has a record of each step.

slow = SelfPacedForestClassifier(30, schedule=QuantilePace(0.3, 0.9, 4), random_state=0).fit(X, noisy)
pd.DataFrame(slow.history_).plot("step", ["mean_weight", "mean_loss"])
plt.show()

"""
Pace a learner of your own
==========================

Whatever is fitted with a weight for every (instance, label) pair can be paced. Here a Gaussian classifier per
label, out of fold, on digits a fifth of whose labels are wrong.
"""

# %%
# The learner
# -----------
# Two methods: ``fit`` takes the weights, ``losses`` gives the loss of every pair, out of fold.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.naive_bayes import GaussianNB

from mlspl import datasets, metrics, pacing
from mlspl.model_selection import IterativeStratification, protocol_split


class OutOfFoldBayes:
    def __init__(self, X, Y):
        self.X, self.Y, self.weights = X, Y, np.ones(Y.shape)
        self.folds = list(IterativeStratification(3, random_state=0).split(X, Y))

    def fit(self, weights):
        self.weights = weights

    def probabilities(self, train, X_new):
        columns = []
        for label in range(self.Y.shape[1]):
            model = GaussianNB(var_smoothing=0.1)
            model.fit(self.X[train], self.Y[train, label], self.weights[train, label])
            columns.append(model.predict_proba(X_new)[:, 1])
        return np.column_stack(columns)

    def losses(self):
        given = np.empty(self.Y.shape)
        for train, test in self.folds:
            present = self.probabilities(train, self.X[test])
            given[test] = np.where(self.Y[test] == 1, present, 1 - present)
        return -np.log(np.maximum(given, 1e-3))


# %%
# The loop
# --------
# The pace is the median of the losses of each label and class, then higher quantiles, and at last infinite.

digits = datasets.load_dataset("digits-traits")
train, test = protocol_split(len(digits.Y), split=100)
noisy, flipped = datasets.corrupt(digits.Y[train], "flip", 0.2, random_state=0)
learner = OutOfFoldBayes(digits.X[train], noisy)
run = pacing.paced(learner, pacing.get("gaussian"), pacing.QuantilePace(0.5, 1.0, 6), noisy)
everyone = np.arange(len(train))
quality = []
for step in run:
    scores = learner.probabilities(everyone, digits.X[test])
    quality.append(metrics.average_precision(digits.Y[test], scores))
    print(f"quantile {step.target:.1f}: mean weight {step.record['mean_weight']:.2f}, AP {quality[-1]:.4f}")
print(run.stop_reason)

# %%
# What entered when
# -----------------
# Right labels enter early; most of the flipped ones stay outside until the pace is infinite. Whether the
# model itself gains is another question: one Gaussian a class is too simple to follow wrong labels, and it is
# best with all pairs in play. A forest follows them, and gains (:class:`mlspl.SelfPacedForestClassifier`).

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
steps = np.arange(1, run.trace.n_steps + 1)
for name, which in (("right", ~flipped), ("flipped", flipped)):
    entered = run.trace.entered[which]
    left.step(steps, [(entered <= s).mean() for s in steps], where="mid", label=f"{name} labels")
left.set(xlabel="step", ylabel="share of pairs in play", ylim=(0, 1.02))
left.legend(frameon=False)
right.plot([record["pace"] for record in run.history], quality, marker="o")
right.set(xlabel="quantile of the losses that sets the pace", ylabel="average precision, new rows")
plt.show()

"""
Pace a learner of your own
==========================

Any model that is fitted with a weight for every instance-label pair can be paced. Here it is a naive Bayes
classifier per label with out-of-fold losses. A fifth of the training labels is inverted (planted noise).
"""

# %%
# The learner
# -----------
# It has two methods: ``fit`` takes the weights, ``losses`` returns the out-of-fold loss of every pair.

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
# The first pace is the median of the losses of each label and class. It grows to higher quantiles, and is
# infinite at the last step.

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
# When pairs enter
# ----------------
# A pair enters at the first step that gives it a weight of at least 0.5. Right labels enter early, most
# inverted ones only when the pace is infinite. The model itself does not gain: naive Bayes is too simple to
# overfit wrong labels, and ranks best with all pairs. Forests overfit them, and gain
# (:class:`mlspl.SelfPacedForestClassifier`).

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
steps = np.arange(1, run.trace.n_steps + 1)
for name, which in (("right", ~flipped), ("inverted", flipped)):
    entered = run.trace.entered[which]
    left.step(steps, [(entered <= s).mean() for s in steps], where="mid", label=f"{name} labels")
left.set(xlabel="step", ylabel="share of pairs that entered", ylim=(0, 1.02))
left.legend(frameon=False)
right.plot([record["pace"] for record in run.history], quality, marker="o")
right.set(xlabel="quantile of the losses that sets the pace", ylabel="average precision, new rows")
plt.show()

"""
Is one method better than another?
==================================

Tests for scores of several methods on several data sets: Friedman's test of the mean ranks, Nemenyi's
critical difference, and Wilcoxon's test for each pair with Holm's correction. At the shell, ``mlspl compare
FILE`` prints the same for a table of scores.
"""

# %%
# Scores
# ------
# Eight simulated data sets, three splits of each, four methods.

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import make_multilabel_classification

from mlspl import BSVMClassifier, MLkNNClassifier, SelfPacedForestClassifier, experiments, metrics
from mlspl.model_selection import protocol_split

methods = {
    "ml-knn": MLkNNClassifier(k=10),
    "bsvm": BSVMClassifier(gamma="scale"),
    "unpaced forest": SelfPacedForestClassifier(30, pace_function=None, random_state=0),
    "paced forest": SelfPacedForestClassifier(30, random_state=0),
}
rows = []
for seed in range(8):
    X, Y = make_multilabel_classification(
        300, n_features=15, n_classes=6, n_labels=2 + seed % 3, allow_unlabeled=False, random_state=seed
    )
    for split in range(100, 103):
        train, test = protocol_split(len(Y), split, train=0.5)
        for name, model in methods.items():
            scores = model.fit(X[train], Y[train]).decision_function(X[test])
            value = metrics.average_precision(Y[test], scores)
            rows.append({"block": f"set {seed}", "variant": name, "split": split, "average_precision": value})
scores = pd.DataFrame(rows)
print(scores.pivot_table(index="block", columns="variant", values="average_precision").round(3).to_string())

# %%
# Ranks over the data sets
# ------------------------
# The best method of a set has rank 1. Friedman's test is whether the mean ranks differ.

result = experiments.compare(scores, "average_precision", greater_is_better=True)
ranking = result.ranking
print(ranking.ranks.round(2).to_string())
print(f"Friedman: p = {ranking.p_value:.2g}; critical difference {ranking.distance:.2f}")

# %%
# Methods joined by a bar do not differ significantly.

experiments.critical_difference_figure([result], figure=plt.figure())
plt.show()

# %%
# Pair by pair
# ------------
# Wilcoxon's signed-rank test over the data sets, adjusted for the number of pairs.

pairs = result.pairs[result.pairs["block"] == "over data sets"]
print(pairs.round(4).to_string(index=False))

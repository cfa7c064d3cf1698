"""
Let validation choose the pace
==============================

Whether pacing helps depends on the noise of the labels, which is usually unknown.
:class:`~mlspl.MLSPLClassifierCV` fits kernel SVMs and forests at several paces, evaluates each on held-out
rows, and averages the best.
"""

# %%
# Fit
# ---
# A fifth of the training labels is inverted (planted noise). ``budget="fast"`` tries less than the default.

import matplotlib.pyplot as plt
import pandas as pd

from mlspl import MLSPLClassifierCV, datasets, metrics
from mlspl.model_selection import protocol_split

digits = datasets.load_dataset("digits-traits")
train, test = protocol_split(len(digits.Y), split=100, train=0.2)
X, X_test = digits.X[train] / 16, digits.X[test] / 16
noisy, _ = datasets.corrupt(digits.Y[train], "flip", 0.2, random_state=0)
Y = pd.DataFrame(noisy, columns=digits.label_names)
paced = MLSPLClassifierCV(budget="fast", quantiles=(0.5, 0.7, 0.9), random_state=0).fit(X, Y)
print(pd.DataFrame(paced.members_)[["family", "weight", "target", "C", "mean"]].round(3).to_string())

# %%
# The path
# --------
# The gain of each pace over the unpaced model (target 1) on held-out rows, in the best setting. The
# held-out labels are as noisy as the training labels.

results = pd.DataFrame(paced.cv_results_)
path = results.groupby(["target", "family"])["mean"].max().unstack()
(path - path.loc[1.0]).plot(marker="o", ylabel="gain in held-out average precision")
plt.show()

# %%
# The members
# -----------
# Mean weight and mean loss of the pairs for each member, from the smallest quantile to the unpaced model.

pd.DataFrame(paced.history_).plot("step", ["mean_weight", "mean_loss"], marker="o")
plt.show()

# %%
# New rows
# --------
# Without quantiles no model is paced; the rest of the search is the same. Here the two hardly differ.

unpaced = MLSPLClassifierCV(budget="fast", quantiles=(), random_state=0).fit(X, Y)
for name, model in (("unpaced", unpaced), ("paced", paced)):
    scores = model.decision_function(X_test)
    print(f"{name:8s} average precision {metrics.average_precision(digits.Y[test], scores):.4f}")

# %%
# In a notebook, the fitted model is shown as a diagram.

paced

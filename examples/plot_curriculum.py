"""
What was easy, what was hard, and how noisy labels are
======================================================

Annotators overlook labels. :func:`mlspl.curriculum.noise_rates` estimates how many, label by label, from the
out-of-sample probabilities of any model. The trace of a paced model shows which pairs were easy to learn.
"""

# %%
# Remove labels
# -------------
# A quarter of the relevant labels of handwritten digits is removed (planted noise).

import matplotlib.pyplot as plt
import pandas as pd

from mlspl import SelfPacedForestClassifier, curriculum, datasets
from mlspl.pacing import QuantilePace

digits = datasets.load_dataset("digits-traits")
X = digits.X[:600]
Y, lost = datasets.corrupt(digits.Y[:600], "missing", 0.25, random_state=0)
Y = pd.DataFrame(Y, columns=digits.label_names)

# %%
# Noise rates
# -----------
# The audit does not know that labels were only removed. Where the model is sure that a label is present, a
# quarter of the labels is missing; where it is sure that a label is absent, hardly any is given.

forest = SelfPacedForestClassifier(100, schedule=QuantilePace(0.3, 0.9, 4), random_state=0)
found = curriculum.audit(X, Y, forest, random_state=0)
curriculum.NoiseDisplay.from_audit(found)
plt.show()

# %%
# With the probabilities of your own model, call ``noise_rates`` for the rates, and ``label_issues`` for the
# probability that each given label is wrong.

rates = curriculum.noise_rates(Y, found.probabilities)
suspicion = curriculum.label_issues(Y, found.probabilities)
print(rates.round(2).to_string())
print(f"{suspicion.sum():.0f} errors expected, {lost.sum()} planted")
sure = suspicion >= 0.8
print(f"{lost[sure].mean():.0%} of the {sure.sum()} with a suspicion of 0.8 or more were removed")

# %%
# Easy and hard
# -------------
# A pair enters at the first step that gives it a weight of at least 0.5. The later a pair enters, the
# harder it is; pairs of the same step are ordered by their mean loss.

found.labels["difficulty"].sort_values().plot.barh(xlabel="mean difficulty of the pairs")
plt.show()

# %%
# Removed labels often never enter.

never = found.trace.entered == 0
print(
    f"never entered: {never[lost].mean():.0%} of the removed labels, {never[~lost].mean():.0%} of the others"
)

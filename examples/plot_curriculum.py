"""
What was easy, what was hard, and how noisy labels are
======================================================

Labels get lost: an annotator overlooks what is there. From any model's out-of-sample probabilities,
:func:`mlspl.curriculum.noise_rates` tells how many, label by label, and the trace of a paced model tells
which pairs it could learn from first.
"""

# %%
# Lose labels
# -----------
# A quarter of the traits of handwritten digits is left out.

import matplotlib.pyplot as plt
import pandas as pd

from mlspl import SelfPacedForestClassifier, curriculum, datasets
from mlspl.pacing import QuantilePace

digits = datasets.load_dataset("digits-traits")
X = digits.X[:600]
Y, lost = datasets.corrupt(digits.Y[:600], "missing", 0.25, random_state=0)
Y = pd.DataFrame(Y, columns=digits.label_names)

# %%
# The rates of noise
# ------------------
# Nobody says that labels were lost and none is false: the curve from the model's log-odds to what is given
# says it. Where the model is sure, a quarter is missing at one end, and nothing at the other.

forest = SelfPacedForestClassifier(100, schedule=QuantilePace(0.3, 0.9, 4), random_state=0)
found = curriculum.audit(X, Y, forest, random_state=0)
curriculum.NoiseDisplay.from_audit(found)
plt.show()

# %%
# With probabilities of your own, two calls do the same: one for the rates, one for the probability that
# each given label is wrong.

rates = curriculum.noise_rates(Y, found.probabilities)
suspicion = curriculum.label_issues(Y, found.probabilities)
print(rates.round(2).to_string())
print(f"{suspicion.sum():.0f} errors expected, {lost.sum()} planted")
sure = suspicion >= 0.8
print(f"{lost[sure].mean():.0%} of the {sure.sum()} with a suspicion of .8 or more are")

# %%
# Easy and hard
# -------------
# A pair is harder the later it entered and, among those that entered together, the larger its loss was.

found.labels["difficulty"].sort_values().plot.barh(xlabel="mean difficulty of the pairs")
plt.show()

# %%
# Lost labels often never enter the paced fit.

never = found.trace.entered == 0
print(f"never entered: {never[lost].mean():.0%} of the lost labels, {never[~lost].mean():.0%} of the others")

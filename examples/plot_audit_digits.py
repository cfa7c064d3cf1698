"""
Find, look at and correct wrong labels
======================================

Some labels of handwritten digits are turned on purpose. The audit finds them without being told how many
there are or of which kind; we look at what it suspects, correct it, and fit once more.
"""

# %%
# Plant errors
# ------------
# Every digit has eight traits, such as being even or having a closed loop. One value in thirty is turned. The
# rows that come after the first 800 stay as they are, to judge by.

import tempfile

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from mlspl import BSVMClassifier, curriculum, datasets, metrics

digits = datasets.load_dataset("digits-traits")
names = digits.label_names
X, clean = digits.X[:800], digits.Y[:800]
Y, planted = datasets.corrupt(clean, "flip", 1 / 30, random_state=0)
print(f"{planted.sum()} of {planted.size} labels are wrong now")

# %%
# Find them
# ---------
# The suspicion of a pair is the probability that its given label is wrong. Its sum estimates how many are.

found = curriculum.audit(X, pd.DataFrame(Y, columns=names), random_state=0)
print(found)
print(found.issues[["row", "label", "given", "suspicion", "why"]].head().to_string())

rows, labels = found.issues["row_number"], found.issues["label_number"]
hits = planted[rows, labels]
print(f"of the first 100 suspected pairs, {hits[:100].mean():.0%} are wrong")
strong = (planted & (found.suspicion >= 0.8)).sum()
print(f"{strong} of {planted.sum()} planted errors have a suspicion of .8 or more")

# %%
# Look at them
# ------------
# The strongest suspicions, with what the label says and what it probably should. Red: this one was right.

figure, axes = plt.subplots(3, 6, figsize=(9, 5.4), layout="constrained")
for axis, (row, label, wrong) in zip(axes.flat, zip(rows, labels, hits, strict=False), strict=False):
    axis.imshow(X[row].reshape(8, 8), cmap="gray_r")
    given = names[label] if Y[row, label] else f"not {names[label]}"
    axis.set_title(f"“{given}”", fontsize=8, color="black" if wrong else "red")
    axis.set_axis_off()
figure.suptitle("Wrongly labelled, says the audit")

# %%
# The same on a page: what speaks for and against each suspicion, and answers by key. It is one file, and
# needs no network. From the shell, ``mlspl audit FILE -o DIR`` writes it.

with tempfile.TemporaryDirectory() as folder:
    pictures = list(X.reshape(-1, 8, 8))
    page = found.to_html(
        f"{folder}/audit.html", X, name="digits-traits", feature_names=digits.feature_names, images=pictures
    )
    print(f"{page.name}: {page.stat().st_size / 1e6:.1f} MB")

# %%
# Correct, and fit once more
# --------------------------
# Who has no time to look makes the suspects unknown, or turns them. Every estimator of mlspl leaves unknown
# labels out of its fit, pair by pair.

versions = {
    "as given": Y,
    "suspects unknown": found.corrected(0.8),
    "suspects turned": found.corrected(0.8, unknown=False),
    "without errors": clean,
}
X_test, Y_test = digits.X[800:], digits.Y[800:]
scores = {}
for name, version in versions.items():
    model = BSVMClassifier(gamma="scale", C=10).fit(X, version)
    scores[name] = metrics.hamming_loss(Y_test, model.predict(X_test))
    print(f"{name:17s} {scores[name]:.2%} of the labels of new digits are wrong")

figure, axis = plt.subplots(figsize=(6, 2.4), layout="constrained")
axis.barh(
    list(scores), np.array(list(scores.values())) * 100, color=["#ad4500", "#0072b2", "#0072b2", "#7a7a7a"]
)
axis.invert_yaxis()
axis.set_xlabel("Hamming loss on new digits, %")
plt.show()

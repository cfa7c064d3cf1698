"""
Find, look at and correct wrong labels
======================================

Some labels of handwritten digits are inverted (planted noise). The audit ranks all labels by how probably
they are wrong. We look at the strongest suspicions, correct them, and fit again.
"""

# %%
# Plant errors
# ------------
# The labels are eight traits of a digit, such as "even" or "closed loop". One label in thirty of the first
# 800 rows is inverted. The other rows are the test set.

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
# The suspicion of a pair is the probability that its given label is wrong. The sum of the suspicions is the
# expected number of errors.

found = curriculum.audit(X, pd.DataFrame(Y, columns=names), random_state=0)
print(found)
print(found.issues[["row", "label", "given", "suspicion", "why"]].head().to_string())

rows, labels = found.issues["row_number"], found.issues["label_number"]
hits = planted[rows, labels]
print(f"of the first 100 suspected pairs, {hits[:100].mean():.0%} are wrong")
strong = (planted & (found.suspicion >= 0.8)).sum()
print(f"{strong} of {planted.sum()} planted errors have a suspicion of 0.8 or more")

# %%
# Look at them
# ------------
# The strongest suspicions, with the given label. A red title marks a label that is right.

figure, axes = plt.subplots(3, 6, figsize=(9, 5.4), layout="constrained")
for axis, (row, label, wrong) in zip(axes.flat, zip(rows, labels, hits, strict=False), strict=False):
    axis.imshow(X[row].reshape(8, 8), cmap="gray_r")
    given = names[label] if Y[row, label] else f"not {names[label]}"
    axis.set_title(f"“{given}”", fontsize=8, color="black" if wrong else "red")
    axis.set_axis_off()
figure.suptitle("Strongest suspicions of the audit")

# %%
# The page for reviewing: one file with the evidence on each suspicion, and keys to accept or reject it. At
# the shell, ``mlspl audit FILE -o DIR`` writes it.

with tempfile.TemporaryDirectory() as folder:
    pictures = list(X.reshape(-1, 8, 8))
    page = found.to_html(
        f"{folder}/audit.html", X, name="digits-traits", feature_names=digits.feature_names, images=pictures
    )
    print(f"{page.name}: {page.stat().st_size / 1e6:.1f} MB")

# %%
# Correct, and fit again
# ----------------------
# Without a review, suspected labels can be made unknown, or inverted. Estimators of mlspl leave unknown
# labels out of the fit; the other labels of the row are used.

versions = {
    "as given": Y,
    "suspects unknown": found.corrected(0.8),
    "suspects inverted": found.corrected(0.8, unknown=False),
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

"""
Many rows of sparse text
========================

Ten thousand short texts with a thousand words and thirty labels. On sparse rows,
:class:`~mlspl.BSVMClassifier` and :class:`~mlspl.MLSPLClassifier` fit linear classifiers instead of a kernel
matrix. ``space_`` says so.
"""

# %%
# Texts
# -----
# The texts are simulated. Each label has its own words; a text has words of its labels and words that are
# independent of the labels.

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from mlspl import BSVMClassifier, metrics

random = np.random.default_rng(0)
n_rows, n_words, n_labels = 10_000, 1_000, 30
frequency = 0.3 / np.arange(1, n_labels + 1)  # some labels are common, most are rare
Y = random.random((n_rows, n_labels)) < frequency
own_words = random.integers(0, n_words, (n_labels, 15))
texts = []
for row in Y:
    words = random.zipf(1.3, 25) % n_words
    labels = np.flatnonzero(row)
    if len(labels):
        words = np.append(words, own_words[random.choice(labels, 8), random.integers(0, 15, 8)])
    texts.append(" ".join(f"word{word}" for word in words))
print(texts[0][:60], "…")

# %%
# Fit
# ---
# No array of size rows × rows is made.

X = TfidfVectorizer().fit_transform(texts)
train, test = np.arange(9_000), np.arange(9_000, n_rows)
start = time.perf_counter()
model = BSVMClassifier(n_jobs=2).fit(X[train], Y[train])
print(f"{X.shape[1]} words, fitted in {time.perf_counter() - start:.1f} s")
print(model.space_)

# %%
# The best labels of a text
# -------------------------
# ``predict_top`` returns the best labels without a table of all scores. This saves memory with very many
# labels.

best, scores = model.predict_top(X[test], k=3)
print(best[:3])
ranked = model.decision_function(X[test])
for k in (1, 3, 5):
    print(f"P@{k} {metrics.precision_at_k(Y[test], ranked, k):.3f}")

# %%
# Rare labels
# -----------
# The more training texts have a label, the better it is predicted.

found = metrics.score_labels(Y[test], ranked, model.predict(X[test]))
counts = Y[train].sum(axis=0)
figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
axis.scatter(counts, found["auc"], color="#0072b2")
axis.set(xscale="log", xlabel="training texts with the label", ylabel="AUC on new texts")
plt.show()

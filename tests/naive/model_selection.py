"""Slow, obvious twins of what `mlspl.model_selection` computes fast."""

import numpy as np


def share_out(Y, shares, sizes, random):
    """Algorithm 1 of Sechidis et al. (2011) on a 0/1 array, line by line; full subsets take no more rows."""
    rows, labels = random.permutation(len(Y)), random.permutation(Y.shape[1])
    chance = random.random_sample(len(Y))
    Y = Y[rows][:, labels]
    lacking_rows = [int(size) for size in sizes]
    lacking = [[Y[:, label].sum() * share for share in shares] for label in range(Y.shape[1])]
    subset = {}

    def place(i, wanted):
        possible = [j for j in range(len(sizes)) if lacking_rows[j] > 0]
        possible = [j for j in possible if wanted[j] == max(wanted[m] for m in possible)]
        possible = [j for j in possible if lacking_rows[j] == max(lacking_rows[m] for m in possible)]
        j = possible[int(chance[i] * len(possible))]
        subset[i] = j
        lacking_rows[j] -= 1
        for label in np.flatnonzero(Y[i]):
            lacking[label][j] -= 1

    while True:
        left = [i for i in range(len(Y)) if i not in subset]
        carried = [sum(Y[i, label] for i in left) for label in range(Y.shape[1])]
        if not any(carried):
            break
        rarest = min(np.flatnonzero(carried), key=lambda label: carried[label])
        for i in left:
            if Y[i, rarest]:
                place(i, lacking[rarest])
    for i in left:
        place(i, [0] * len(sizes))
    result = np.empty(len(Y), dtype=int)
    result[rows] = [subset[i] for i in range(len(Y))]
    return result


def best_cuts(F, Y, weight):
    """Value of the best cut of every label, trying one below, between and above all scores; 0/1 labels."""
    values = []
    for f, y, w in zip(F.T, Y.T, weight.T, strict=True):
        cuts = [-np.inf, np.inf, *f]
        values.append(max(cut_value(f, y, w, cut) for cut in cuts))
    return values


def cut_value(f, y, w, cut):
    """F1 of one label that is predicted above `cut`."""
    w = np.where(np.isnan(y), 0, w)
    relevant, predicted = y == 1, f > cut
    size = w[relevant].sum() + w[predicted].sum()
    return 2 * w[relevant & predicted].sum() / size if size else 1.0

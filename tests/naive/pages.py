"""Slow twins of what `mlspl.pages` computes for the audit's page."""

import numpy as np


def evidence(X, Y, row, label, most_features=4, is_text=False):
    """Of one pair, feature by feature and row by row; X dense, with NaN where a value is missing."""
    n, d = X.shape
    speaks = []
    for j in range(d):
        column = X[:, j]
        known = [i for i in range(n) if not np.isnan(column[i])]
        variance = np.var([column[i] for i in known]) if known else 0.0
        sides, error = [], 0.0
        for side in (1, 0):
            values = [column[i] for i in known if Y[i, label] == side and i != row]
            sides.append(np.mean(values) if values else np.nan)
            error += variance / max(len(values), 1)
        having, lacking = sides
        x = column[row]
        share = 0.0
        if variance > 0 and not np.isnan(having + lacking + x):
            # log N(x; having, variance) − log N(x; lacking, variance)
            share = ((x - lacking) ** 2 - (x - having) ** 2) / (2 * variance)
            if is_text:
                others = sum(column[i] != 0 for i in range(n) if i != row)
                share *= max(0.0, 1 - 4 * error / (having - lacking) ** 2) * others / (others + 5)
        speaks.append((share, j, x, having, lacking))
    best = sorted((one for one in speaks if one[0] > 0), key=lambda one: -one[0])[:most_features]
    worst = sorted((one for one in speaks if one[0] < 0), key=lambda one: one[0])[:most_features]
    return {"for": [one[1:] for one in best], "against": [one[1:] for one in worst]}


def nearest(distances, Y, row, label, side, most_rows=3):
    """The nearest other rows of one side of a label, first of equals first."""
    others = [i for i in range(len(Y)) if i != row and Y[i, label] == side]
    return sorted(others, key=lambda i: (distances[i], i))[:most_rows]

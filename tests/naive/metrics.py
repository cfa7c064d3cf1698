"""Slow, obvious twins of what `mlspl.metrics` computes fast."""

import numpy as np


def ranked_labels(y, f):
    """Known labels of a row, best first; among equal scores the higher index is better."""
    known = [label for label in range(len(y)) if not np.isnan(y[label])]
    return sorted(known, key=lambda label: (f[label], label), reverse=True)


def relevant_labels(y):
    return [label for label in range(len(y)) if y[label] == 1]


def irrelevant_labels(y):
    return [label for label in range(len(y)) if y[label] == 0]


def hamming_loss(Y, P):
    """0/1 labels with NaN for unknown, as all the criteria here."""
    wrong = [Y[i][j] != P[i][j] for i in range(len(Y)) for j in range(len(Y[i])) if not np.isnan(Y[i][j])]
    return sum(wrong) / len(wrong) if wrong else np.nan


def mean_over_mixed_rows(Y, F, row_criterion):
    """Mean over the rows with a relevant and an irrelevant label."""
    mixed = [(y, f) for y, f in zip(Y, F, strict=True) if relevant_labels(y) and irrelevant_labels(y)]
    values = [row_criterion(y, f) for y, f in mixed]
    return sum(values) / len(values) if values else np.nan


def ranking_loss(Y, F):
    def of_row(y, f):
        pairs = [(p, q) for p in relevant_labels(y) for q in irrelevant_labels(y)]
        return sum(f[p] <= f[q] for p, q in pairs) / len(pairs)

    return mean_over_mixed_rows(Y, F, of_row)


def one_error(Y, F):
    def of_row(y, f):
        best = max(f[label] for label in ranked_labels(y, f))
        return not any(f[label] == best for label in relevant_labels(y))

    return mean_over_mixed_rows(Y, F, of_row)


def coverage(Y, F):
    depths = []
    for y, f in zip(Y, F, strict=True):
        order = ranked_labels(y, f)
        if order:
            depths.append(max([order.index(label) for label in relevant_labels(y)], default=0))
    return sum(depths) / len(depths) if depths else np.nan


def average_precision(Y, F):
    def of_row(y, f):
        order = ranked_labels(y, f)
        ranks = {label: order.index(label) + 1 for label in relevant_labels(y)}
        return np.mean([sum(r <= rank for r in ranks.values()) / rank for rank in ranks.values()])

    return mean_over_mixed_rows(Y, F, of_row)


def f1(relevant, predicted):
    """Of two sets; nothing there and nothing predicted is perfect."""
    size = len(relevant) + len(predicted)
    return 2 * len(relevant & predicted) / size if size else 1.0


def sets_of_rows(Y, P):
    """(relevant, predicted) of every row with a known label, unknown labels taken out of both."""
    pairs = []
    for y, p in zip(Y, P, strict=True):
        known = {label for label in range(len(y)) if not np.isnan(y[label])}
        if known:
            pairs.append((set(relevant_labels(y)), {label for label in known if p[label] == 1}))
    return pairs


def sample_f1(Y, P):
    values = [f1(*pair) for pair in sets_of_rows(Y, P)]
    return sum(values) / len(values) if values else np.nan


def jaccard(Y, P):
    values = [len(r & p) / len(r | p) if r | p else 1.0 for r, p in sets_of_rows(Y, P)]
    return sum(values) / len(values) if values else np.nan


def subset_accuracy(Y, P):
    values = [r == p for r, p in sets_of_rows(Y, P)]
    return sum(values) / len(values) if values else np.nan


def micro_f1(Y, P):
    pairs = sets_of_rows(Y, P)
    relevant = {(i, label) for i, (r, _) in enumerate(pairs) for label in r}
    predicted = {(i, label) for i, (_, p) in enumerate(pairs) for label in p}
    if not pairs:
        return np.nan
    return f1(relevant, predicted) if relevant or predicted else 0.0


def macro_f1(Y, P):
    pairs = sets_of_rows(Y, P)
    values = []
    for label in range(len(Y[0])):
        if all(np.isnan(y[label]) for y in Y):
            continue
        relevant = {i for i, (r, _) in enumerate(pairs) if label in r}
        predicted = {i for i, (_, p) in enumerate(pairs) if label in p}
        values.append(f1(relevant, predicted) if relevant or predicted else 0.0)
    return sum(values) / len(values) if pairs else np.nan


def precision_at_k(Y, F, k):
    values = [
        sum(y[label] == 1 for label in ranked_labels(y, f)[:k]) / k
        for y, f in zip(Y, F, strict=True)
        if ranked_labels(y, f)
    ]
    return sum(values) / len(values) if values else np.nan


def ndcg_at_k(Y, F, k):
    def gain(flags):
        return sum(flag / np.log2(rank + 1) for rank, flag in enumerate(flags[:k], 1))

    values = []
    for y, f in zip(Y, F, strict=True):
        flags = [y[label] == 1 for label in ranked_labels(y, f)]
        if any(flags):
            values.append(gain(flags) / gain(sorted(flags, reverse=True)))
    return sum(values) / len(values) if values else np.nan

"""Slow, obvious twins of what `mlspl.experiments` computes fast."""


def holm(p_values):
    """Holm's step-down adjustment, one p-value after the other."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, (len(p_values) - rank) * p_values[i])
        adjusted[i] = min(1.0, largest)
    return adjusted


def wilcoxon_p_value(differences):
    """Two-sided exact p-value of the signed-rank test by going through all 2^n signs; zeros do not count."""
    differences = [d for d in differences if d != 0]
    ranks = [
        sum(abs(other) < abs(d) for other in differences)
        + (1 + sum(abs(other) == abs(d) for other in differences)) / 2
        for d in differences
    ]
    middle = sum(ranks) / 2
    seen = abs(sum(rank for d, rank in zip(differences, ranks, strict=True) if d > 0) - middle)
    extreme = 0
    for signs in range(2 ** len(differences)):
        statistic = sum(rank for i, rank in enumerate(ranks) if signs >> i & 1)
        extreme += abs(statistic - middle) >= seen
    return extreme / 2 ** len(differences)

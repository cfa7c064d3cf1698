"""Costs of pairs by the weights of their classes."""

import numpy as np

__all__ = ["class_costs"]


def class_costs(Y, class_weight, label_weight=None, classes=(0, 1)):
    """Cost of every (instance, label) pair: its class's weight times its prior weight."""
    costs = np.ones(Y.shape) if label_weight is None else np.array(label_weight, dtype=np.float64)
    if class_weight is None:
        return costs
    if isinstance(class_weight, dict):
        unknown = set(class_weight) - set(classes)
        if unknown:
            raise ValueError(f"class_weight names {sorted(unknown)}; the classes are {list(classes)}.")
        absent, present = (class_weight.get(name, 1.0) for name in (classes[0], classes[-1]))
        return costs * np.where(Y, present, absent)
    exponent = 1.0 if class_weight == "balanced" else class_weight
    if isinstance(exponent, str) or not np.isfinite(exponent) or exponent < 0:
        raise ValueError(
            f"class_weight is {class_weight!r}; give None, 'balanced', an exponent of 0 or more, or a dict."
        )
    total = costs.sum(axis=0)
    share = np.divide((costs * Y).sum(axis=0), total, out=np.full(Y.shape[1], 0.5), where=total > 0)
    # A class that never occurs has no pair, so any finite number serves.
    present = (0.5 / np.where(share > 0, share, 0.5)) ** exponent
    absent = (0.5 / np.where(share < 1, 1 - share, 0.5)) ** exponent
    return costs * np.where(Y, present, absent)

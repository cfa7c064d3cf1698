"""What the machines of the spaces minimise."""

import numpy as np

__all__ = ["LOSSES", "pair_losses"]

LOSSES = ("hinge", "squared_hinge", "logistic")


def pair_losses(loss, signs, scores) -> np.ndarray:
    """The loss of scores, of the same shape as signs of ±1."""
    margins = signs * scores
    if loss == "logistic":
        return np.logaddexp(0.0, -margins)
    hinge = np.maximum(0.0, 1.0 - margins)
    return hinge**2 if loss == "squared_hinge" else hinge

"""The embedded data set: scikit-learn's digit images with traits of the digit as labels."""

import numpy as np
from sklearn.datasets import load_digits

from mlspl.datasets.dataset import Dataset

__all__ = ["load_digits_traits"]

# Every digit has at least two traits, and no two digits have the same ones.
_DIGITS_WITH = {
    "even": (0, 2, 4, 6, 8),
    "prime": (2, 3, 5, 7),
    "closed loop": (0, 6, 8, 9),
    "straight strokes": (1, 4, 7),
    "five or more": (5, 6, 7, 8, 9),
    "multiple of three": (0, 3, 6, 9),
    "square": (0, 1, 4, 9),
    "power of two": (1, 2, 4, 8),
}


def load_digits_traits() -> Dataset:
    """1797 handwritten digits of 8 × 8 pixels, labelled with eight yes/no traits, correlated by nature."""
    digits = load_digits()
    Y = np.column_stack([np.isin(digits.target, members) for members in _DIGITS_WITH.values()]).astype(
        np.int64
    )
    return Dataset(digits.data, Y, digits.feature_names, list(_DIGITS_WITH), {}, "digits-traits")

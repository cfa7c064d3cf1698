"""One-hot encoders from files: their columns laid out anew, for compiled code fills them without a look."""

from typing import Any

import numpy as np
from sklearn.preprocessing import OneHotEncoder

__all__ = ["settle_encoder"]


def settle_encoder(where: str, encoder: OneHotEncoder) -> None:
    """Replace what an encoder derives from its categories by what scikit-learn derives from them.

    Compiled code writes to the columns without a look at how many there are.
    """
    state = vars(encoder)
    if any(state.get(name) is not None for name in ("drop", "min_frequency", "max_categories", "drop_idx_")):
        raise ValueError(f"{where} is a OneHotEncoder that drops or groups categories")
    private = [name for name in state if name.startswith("_")]
    if "categories_" not in state:
        twin = OneHotEncoder()
    else:
        categories = state["categories_"]
        if not isinstance(categories, list) or not all(map(_are_categories, categories)):
            raise ValueError(f"{where} is a OneHotEncoder with categories out of order")
        if state.get("n_features_in_") != len(categories):
            raise ValueError(f"{where} is a OneHotEncoder of other columns than its categories")
        first = np.array([[values[0] for values in categories]], dtype=object)
        twin = OneHotEncoder(categories=[values.astype(object) for values in categories]).fit(first)
    for name in private:
        del state[name]
    state.update({name: part for name, part in vars(twin).items() if name.startswith("_")})


def _are_categories(values: Any) -> bool:
    """Whether these are different values, in ascending order unless they are Python objects."""
    if not isinstance(values, np.ndarray) or values.ndim != 1 or not len(values):
        return False
    if values.dtype == object:
        return all(part is None or isinstance(part, str | int | float) for part in values) and len(
            dict.fromkeys(values.tolist())
        ) == len(values)
    return values.dtype.kind in "biufU" and np.array_equal(
        np.unique(values), values, equal_nan=values.dtype.kind == "f"
    )

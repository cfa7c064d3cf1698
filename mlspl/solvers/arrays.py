"""How arrays are handed to compiled code."""

import numpy as np

__all__ = ["read_only"]


def read_only(array) -> np.ndarray:
    """The array as C-contiguous float64, as a view that cannot be written to.

    Numba compiles once more for arrays that are read-only, as those that joblib shares between processes
    are. Handing over every input in this form keeps one compiled version, which cannot change it either.
    """
    view = np.ascontiguousarray(array, dtype=np.float64).view()
    view.flags.writeable = False
    return view

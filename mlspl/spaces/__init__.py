"""Where machines are fitted: a space knows its rows, solves machines and regressions, scores new rows.

`Gram` is any kernel through its n×n matrix. Nobody above this room sees a kernel matrix.
"""

from mlspl.spaces._kernels import resolve_gamma
from mlspl.spaces.base import HeldOut, Machines, Model, Regression, Rows, Space
from mlspl.spaces.gram import Gram, KernelExpansion

__all__ = [
    "Gram",
    "HeldOut",
    "KernelExpansion",
    "Machines",
    "Model",
    "Regression",
    "Rows",
    "Space",
    "resolve_gamma",
]

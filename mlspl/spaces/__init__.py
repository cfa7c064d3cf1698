"""Where machines are fitted: a space knows its rows, solves machines and regressions, scores new rows.

`Gram` is any kernel through its n×n matrix, `Linear` the features themselves, `Nystroem` a kernel through
landmarks. Nobody above this room sees a kernel matrix.
"""

from mlspl.spaces._kernels import resolve_gamma
from mlspl.spaces.base import HeldOut, Machines, Model, Regression, Rows, Space
from mlspl.spaces.choice import SpaceChoice, choose_space
from mlspl.spaces.gram import Gram, KernelExpansion
from mlspl.spaces.linear import Linear, LinearModel
from mlspl.spaces.nystroem import LandmarkExpansion, Nystroem

__all__ = [
    "Gram",
    "HeldOut",
    "KernelExpansion",
    "LandmarkExpansion",
    "Linear",
    "LinearModel",
    "Machines",
    "Model",
    "Nystroem",
    "Regression",
    "Rows",
    "Space",
    "SpaceChoice",
    "choose_space",
    "resolve_gamma",
]

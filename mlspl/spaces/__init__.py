"""Spaces: where linear functions are fitted. Code above this package never sees a kernel matrix.

`Gram` uses the kernel matrix of all rows, `Linear` the features themselves, `Nystroem` a kernel by landmarks.
"""

from mlspl.spaces._kernels import resolve_gamma
from mlspl.spaces.base import Model, Regression, Rows, Solutions, Space
from mlspl.spaces.choice import SpaceChoice, choose_space
from mlspl.spaces.gram import Gram, KernelExpansion
from mlspl.spaces.linear import Linear, LinearModel
from mlspl.spaces.nystroem import Nystroem

__all__ = [
    "Gram",
    "KernelExpansion",
    "Linear",
    "LinearModel",
    "Model",
    "Nystroem",
    "Regression",
    "Rows",
    "Solutions",
    "Space",
    "SpaceChoice",
    "choose_space",
    "resolve_gamma",
]

"""Local label correlation: prototypes of label vectors, codes of instances, and regressions of the codes.

The names follow ML-LOC (Huang & Zhou 2012): A are the prototypes, Q the codes.
"""

from mlspl.correlation.prototypes import initial_codes, prototype_distances, prototype_means
from mlspl.correlation.regressors import CodeRegressor, CodeRidge, CodeSVR, get_regressor

__all__ = [
    "CodeRegressor",
    "CodeRidge",
    "CodeSVR",
    "get_regressor",
    "initial_codes",
    "prototype_distances",
    "prototype_means",
]

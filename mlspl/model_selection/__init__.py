"""Multi-label splits, and what turns raw scores into calibrated ones and into labels.

Splits: the protocol's (`protocol_split`), and iterative stratification in folds or in two.
"""

from mlspl.model_selection.splits import protocol_split, stratified_split
from mlspl.model_selection.stratification import IterativeStratification

__all__ = [
    "IterativeStratification",
    "protocol_split",
    "stratified_split",
]

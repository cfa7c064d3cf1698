"""Splits, calibration and thresholds for multi-label data.

`protocol_split` and `IterativeStratification` split rows. Calibrations and thresholds are
fitted on `out_of_fold_scores`; they work on arrays of any model's scores.
"""

from mlspl.model_selection._training import fit_logistic
from mlspl.model_selection.calibration import (
    CALIBRATIONS,
    Calibration,
    IdentityCalibration,
    JointCalibration,
    PlattCalibration,
    ShrunkCalibration,
    get_calibration,
)
from mlspl.model_selection.out_of_fold import out_of_fold_scores
from mlspl.model_selection.splits import IterativeStratification, protocol_split
from mlspl.model_selection.thresholds import (
    THRESHOLDS,
    CountThreshold,
    LabelThreshold,
    Threshold,
    ZeroThreshold,
    get_threshold,
)

__all__ = [
    "CALIBRATIONS",
    "THRESHOLDS",
    "Calibration",
    "CountThreshold",
    "IdentityCalibration",
    "IterativeStratification",
    "JointCalibration",
    "LabelThreshold",
    "PlattCalibration",
    "ShrunkCalibration",
    "Threshold",
    "ZeroThreshold",
    "fit_logistic",
    "get_calibration",
    "get_threshold",
    "out_of_fold_scores",
    "protocol_split",
]

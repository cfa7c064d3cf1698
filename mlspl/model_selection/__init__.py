"""Multi-label splits, and what turns raw scores into calibrated scores and into labels.

Splits: the protocol's random one (`protocol_split`), and iterative stratification in folds or in two. Scores:
`out_of_fold_scores` gives what calibrations ("none", "platt", "pooled", "shrunk") and thresholds ("zero",
"label", "count") are fitted on; they take arrays, give arrays, and know nothing of the model.
"""

from mlspl.model_selection.anchored import AnchoredCalibration
from mlspl.model_selection.calibration import (
    CALIBRATIONS,
    Calibration,
    IdentityCalibration,
    PlattCalibration,
    PooledCalibration,
    ShrunkCalibration,
    get_calibration,
)
from mlspl.model_selection.joint import JointCalibration
from mlspl.model_selection.out_of_fold import out_of_fold_scores
from mlspl.model_selection.splits import protocol_split, stratified_split
from mlspl.model_selection.stratification import IterativeStratification
from mlspl.model_selection.thresholds import (
    THRESHOLDS,
    CountThreshold,
    LabelThreshold,
    Threshold,
    ZeroThreshold,
    cut_curve,
    get_threshold,
)

__all__ = [
    "CALIBRATIONS",
    "THRESHOLDS",
    "AnchoredCalibration",
    "Calibration",
    "CountThreshold",
    "IdentityCalibration",
    "IterativeStratification",
    "JointCalibration",
    "LabelThreshold",
    "PlattCalibration",
    "PooledCalibration",
    "ShrunkCalibration",
    "Threshold",
    "ZeroThreshold",
    "cut_curve",
    "get_calibration",
    "get_threshold",
    "out_of_fold_scores",
    "protocol_split",
    "stratified_split",
]

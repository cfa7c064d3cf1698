"""Multi-label classifiers with scikit-learn's interface, one a file.

MLSPL (self-paced), ML-LOC (local label correlation), BSVM (a machine per label), ML-kNN, TRAM (transductive),
RankSVM, and self-paced forests; and displays of what was fitted.
"""

from mlspl._limits import LargeFitWarning
from mlspl.models._calibrated import without_training_data
from mlspl.models.bsvm import BSVMClassifier
from mlspl.models.extra_trees import ExtraTrees
from mlspl.models.history_display import HistoryDisplay
from mlspl.models.mlknn import MLkNNClassifier
from mlspl.models.mlloc import MLLOCClassifier
from mlspl.models.mlspl import MLSPLClassifier
from mlspl.models.mlspl_cv import MLSPLClassifierCV
from mlspl.models.path_display import PacePathDisplay
from mlspl.models.ranksvm import RankSVMClassifier
from mlspl.models.self_paced import SelfPacedClassifier
from mlspl.models.self_paced_forest import SelfPacedForestClassifier
from mlspl.models.threshold_display import ThresholdDisplay
from mlspl.models.tram import TRAMClassifier
from mlspl.models.tuned_decision import TunedDecisionClassifier

__all__ = [
    "BSVMClassifier",
    "ExtraTrees",
    "HistoryDisplay",
    "LargeFitWarning",
    "MLLOCClassifier",
    "MLSPLClassifier",
    "MLSPLClassifierCV",
    "MLkNNClassifier",
    "PacePathDisplay",
    "RankSVMClassifier",
    "SelfPacedClassifier",
    "SelfPacedForestClassifier",
    "TRAMClassifier",
    "ThresholdDisplay",
    "TunedDecisionClassifier",
    "without_training_data",
]

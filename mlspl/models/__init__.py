"""Multi-label classifiers with scikit-learn's interface, one a file.

MLSPL (self-paced), ML-LOC (local label correlation), BSVM (a machine per label), ML-kNN, TRAM (transductive)
and RankSVM. `save_model` and `load_model` keep them in files that are safe to share.
"""

from mlspl.models.bsvm import BSVMClassifier
from mlspl.models.decision import TunedDecisionClassifier
from mlspl.models.limits import LargeFitWarning
from mlspl.models.mlknn import MLkNNClassifier
from mlspl.models.mlloc import MLLOCClassifier
from mlspl.models.mlspl import MLSPLClassifier
from mlspl.models.mlspl_cv import MLSPLClassifierCV
from mlspl.models.persistence import ModelInfo, load_model, read_model_info, save_model
from mlspl.models.ranksvm import RankSVMClassifier
from mlspl.models.self_paced import SelfPacedClassifier
from mlspl.models.tram import TRAMClassifier
from mlspl.models.trusted import TRUSTED_TYPES

__all__ = [
    "TRUSTED_TYPES",
    "BSVMClassifier",
    "LargeFitWarning",
    "MLLOCClassifier",
    "MLSPLClassifier",
    "MLSPLClassifierCV",
    "MLkNNClassifier",
    "ModelInfo",
    "RankSVMClassifier",
    "SelfPacedClassifier",
    "TRAMClassifier",
    "TunedDecisionClassifier",
    "load_model",
    "read_model_info",
    "save_model",
]

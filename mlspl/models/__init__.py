"""Multi-label classifiers with scikit-learn's interface, one per file.

MLSPL (self-paced), ML-LOC (local label correlation), BSVM (one SVM per label), ML-kNN, TRAM (transductive),
RankSVM, self-paced forests. Algorithm 1 of the MLSPL paper is in ``local_correlation.py``.
"""

from mlspl.models._base import CallbackSupportMixin as CallbackSupportMixin
from mlspl.models._base import MultiLabelClassifier as MultiLabelClassifier
from mlspl.models._base import fit_progress as fit_progress
from mlspl.models._base import predict_top
from mlspl.models._base import store_parameters as store_parameters
from mlspl.models._base import with_callbacks as with_callbacks
from mlspl.models._calibrated import without_training_data
from mlspl.models._families import Candidate as Candidate
from mlspl.models._families import average_families as average_families
from mlspl.models._families import choose_point as choose_point
from mlspl.models._families import split_rows as split_rows
from mlspl.models._families import visit_points as visit_points
from mlspl.models._families import weigh_families as weigh_families
from mlspl.models._forest_models import JointForest as JointForest
from mlspl.models.bsvm import BSVMClassifier
from mlspl.models.mlknn import MLkNNClassifier
from mlspl.models.mlloc import MLLOCClassifier
from mlspl.models.mlspl import MLSPLClassifier
from mlspl.models.mlspl_cv import MLSPLClassifierCV
from mlspl.models.ranksvm import RankSVMClassifier
from mlspl.models.self_paced import SelfPacedClassifier
from mlspl.models.self_paced_forest import SelfPacedForestClassifier
from mlspl.models.tram import TRAMClassifier
from mlspl.models.tuned_decision import TunedDecisionClassifier

__all__ = [
    "BSVMClassifier",
    "MLLOCClassifier",
    "MLSPLClassifier",
    "MLSPLClassifierCV",
    "MLkNNClassifier",
    "RankSVMClassifier",
    "SelfPacedClassifier",
    "SelfPacedForestClassifier",
    "TRAMClassifier",
    "TunedDecisionClassifier",
    "predict_top",
    "without_training_data",
]

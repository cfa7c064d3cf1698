"""Self-paced multi-label learning: a weight for every (instance, label) pair, easy pairs first."""

from importlib.metadata import version

from mlspl import datasets, metrics, model_selection, pacing
from mlspl.models import (
    BSVMClassifier,
    MLkNNClassifier,
    MLLOCClassifier,
    MLSPLClassifier,
    MLSPLClassifierCV,
    RankSVMClassifier,
    SelfPacedClassifier,
    TRAMClassifier,
    TunedDecisionClassifier,
)

__all__ = [
    "BSVMClassifier",
    "MLLOCClassifier",
    "MLSPLClassifier",
    "MLSPLClassifierCV",
    "MLkNNClassifier",
    "RankSVMClassifier",
    "SelfPacedClassifier",
    "TRAMClassifier",
    "TunedDecisionClassifier",
    "datasets",
    "metrics",
    "model_selection",
    "pacing",
]

__version__ = version("mlspl")

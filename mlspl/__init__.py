"""Self-paced multi-label learning: a weight for every (instance, label) pair, easy pairs first."""

from importlib.metadata import version

from mlspl import _numba_cache, curriculum, datasets, metrics, model_selection, pacing  # noqa: F401
from mlspl.models import (
    BSVMClassifier,
    MLkNNClassifier,
    MLLOCClassifier,
    MLSPLClassifier,
    MLSPLClassifierCV,
    RankSVMClassifier,
    SelfPacedClassifier,
    SelfPacedForestClassifier,
    TRAMClassifier,
    TunedDecisionClassifier,
)
from mlspl.persistence import load_model, save_model

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
    "curriculum",
    "datasets",
    "load_model",
    "metrics",
    "model_selection",
    "pacing",
    "save_model",
]

__version__ = version("mlspl")

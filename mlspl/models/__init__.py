"""The models room."""

from mlspl.models.mlknn import MLkNNClassifier
from mlspl.models.ranksvm import RankSVMClassifier
from mlspl.models.tram import TRAMClassifier

__all__ = ["MLkNNClassifier", "RankSVMClassifier", "TRAMClassifier"]

"""The models room."""

from mlspl.models.mlknn import MLkNNClassifier
from mlspl.models.tram import TRAMClassifier

__all__ = ["MLkNNClassifier", "TRAMClassifier"]

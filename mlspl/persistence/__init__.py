"""Model files that are safe to share: what may be in them, and how they are read.

A file holds arrays, JSON and the names of types, never code.
"""

from mlspl.persistence.model_file import (
    ModelInfo,
    is_model_file,
    load_model,
    read_model,
    read_model_info,
    save_model,
)
from mlspl.persistence.onnx import save_onnx
from mlspl.persistence.reader import TRUSTED_TYPES

__all__ = [
    "TRUSTED_TYPES",
    "ModelInfo",
    "is_model_file",
    "load_model",
    "read_model",
    "read_model_info",
    "save_model",
    "save_onnx",
]

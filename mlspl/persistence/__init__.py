"""Model files that are safe to share: what may be in them, how they are read, and new rows for their models.

A file holds arrays, JSON and the names of types, never code.
"""

from mlspl.persistence.matching import match_table
from mlspl.persistence.model_file import ModelInfo, load_model, read_model_info, save_model
from mlspl.persistence.trusted import TRUSTED_TYPES

__all__ = ["TRUSTED_TYPES", "ModelInfo", "load_model", "match_table", "read_model_info", "save_model"]

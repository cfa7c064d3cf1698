"""From a file's table to a fitted pipeline: columns, their preprocessing, and the registry of methods."""

from mlspl.recipes.methods import (
    METHODS,
    TUNING_BUDGET,
    TUNING_FOLDS,
    Method,
    Recipe,
    get_method,
    list_settings,
    method_title,
)
from mlspl.recipes.pipeline import DateParts, build_pipeline, encode_table, scores_and_labels
from mlspl.recipes.schema import Schema, find_counters, take_rows

__all__ = [
    "METHODS",
    "TUNING_BUDGET",
    "TUNING_FOLDS",
    "DateParts",
    "Method",
    "Recipe",
    "Schema",
    "build_pipeline",
    "encode_table",
    "find_counters",
    "get_method",
    "list_settings",
    "method_title",
    "scores_and_labels",
    "take_rows",
]

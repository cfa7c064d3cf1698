"""How much `MLSPLClassifierCV` tries where it is not told."""

from typing import Any

__all__ = ["BUDGETS"]

BUDGETS: dict[str, dict[str, Any]] = {
    "fast": {
        "quantiles": (0.7,),
        "per": ("class",),
        "C": (0.5, 4.0),
        "gamma_factors": (0.5,),
        "n_settings": 2,
        "n_estimators": 200,
        "min_samples_leaf": (2,),
        "cv": 3,
    },
    "default": {
        "quantiles": (0.5, 0.7),
        "per": ("class", "negatives"),
        "C": (0.125, 0.5, 2.0, 8.0),
        "gamma_factors": (0.25, 0.5, 1.0),
        "n_settings": 6,
        "n_estimators": 1000,
        "min_samples_leaf": (1, 2, 5),
        "cv": 5,
    },
    "thorough": {
        "quantiles": (0.5, 0.7, 0.9),
        "per": ("class", "negatives"),
        "C": (0.03125, 0.125, 0.5, 2.0, 8.0, 32.0),
        "gamma_factors": (0.125, 0.25, 0.5, 1.0, 2.0),
        "n_settings": 8,
        "n_estimators": 2000,
        "min_samples_leaf": (1, 2, 5, 10),
        "cv": 10,
    },
}

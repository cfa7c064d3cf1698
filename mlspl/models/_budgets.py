"""How much `MLSPLClassifierCV` tries where it is not told."""

from typing import Any

from mlspl.errors import UserError

__all__ = ["BUDGETS", "fill_budget"]

BUDGETS: dict[str, dict[str, Any]] = {
    "fast": {
        "quantiles": (0.7,),
        "per": ("class",),
        "C": (0.5, 4.0),
        "gamma_factors": (0.5,),
        "n_settings": 2,
        "n_estimators": 100,
        "cv": 3,
    },
    "default": {
        "quantiles": (0.5, 0.7),
        "per": ("class", "negatives"),
        "C": (0.125, 0.5, 2.0, 8.0),
        "gamma_factors": (0.25, 0.5, 1.0),
        "n_settings": 6,
        "n_estimators": 400,
        "cv": 5,
    },
    "thorough": {
        "quantiles": (0.5, 0.7, 0.9),
        "per": ("class", "negatives"),
        "C": (0.03125, 0.125, 0.5, 2.0, 8.0, 32.0),
        "gamma_factors": (0.125, 0.25, 0.5, 1.0, 2.0),
        "n_settings": 8,
        "n_estimators": 1000,
        "cv": 10,
    },
}


def fill_budget(budget, told: dict[str, Any]) -> dict[str, Any]:
    """What was told, and the budget's values in place of None."""
    if budget not in BUDGETS:
        raise UserError(f"budget is {budget!r}; there are {', '.join(map(repr, BUDGETS))}.")
    return {name: default if told[name] is None else told[name] for name, default in BUDGETS[budget].items()}

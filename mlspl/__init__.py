"""Self-paced multi-label learning: a weight for every (instance, label) pair, easy pairs first."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mlspl import curriculum, datasets, experiments, metrics, model_selection, pacing, spaces
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
        predict_top,
    )
    from mlspl.persistence import load_model, save_model

    __version__: str

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
    "experiments",
    "load_model",
    "metrics",
    "model_selection",
    "pacing",
    "predict_top",
    "save_model",
    "spaces",
]

_PACKAGES = {
    *("correlation", "curriculum", "datasets", "errors", "experiments", "metrics", "model_selection"),
    *("models", "noise", "pacing", "pages", "persistence", "recipes", "solvers", "spaces"),
}


def __getattr__(name: str) -> Any:
    """Import a package or a name on first use, because importing all of them takes seconds."""
    value: Any
    if name in _PACKAGES:
        return import_module(f"mlspl.{name}")
    if name == "__version__":
        from importlib.metadata import version

        value = version("mlspl")
    elif name in __all__:
        package = "persistence" if name in ("load_model", "save_model") else "models"
        value = getattr(import_module(f"mlspl.{package}"), name)
    else:
        raise AttributeError(f"module 'mlspl' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES, "__version__"})

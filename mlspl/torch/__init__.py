"""Self-paced networks (optional: ``pip install "mlspl[torch]"``).

`SelfPacedNetClassifier` is a scikit-learn estimator. `SelfPacedLoss` weights the (instance, label) pairs in
any PyTorch training loop. Hooks call it in skorch
(:mod:`mlspl.torch.skorch`), Lightning (:mod:`mlspl.torch.lightning`) and transformers
(:mod:`mlspl.torch.transformers`).
"""

from importlib import import_module

from mlspl.torch.net import LARGEST_INPUT as LARGEST_INPUT
from mlspl.torch.net import LAYER_NORM_EPSILON as LAYER_NORM_EPSILON
from mlspl.torch.net import NetFamily as NetFamily
from mlspl.torch.net import SelfPacedNetClassifier

__all__ = [
    "SelfPacedLoss",
    "SelfPacedNetClassifier",
    "asymmetric_loss",
    "focal_loss",
    "focal_margin_loss",
]


def __getattr__(name: str):
    """Import what needs PyTorch when it is used, so that `import mlspl.torch` works without it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("mlspl.torch.loss"), name)

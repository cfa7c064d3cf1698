"""Modules that need an optional library are collected for doctests only where it is installed."""

from importlib.util import find_spec

_NEEDS = {
    "torch": ["mlspl/torch/_training.py", "mlspl/torch/loss.py", "studies/networks.py"],
    "skorch": ["mlspl/torch/skorch.py"],
    "lightning": ["mlspl/torch/lightning.py"],
    "transformers": ["mlspl/torch/transformers.py"],
}
collect_ignore = [
    path
    for library, paths in _NEEDS.items()
    for path in paths
    if find_spec(library) is None or find_spec("torch") is None
]

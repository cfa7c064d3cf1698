"""The methods from outside the house, a file each; `OUTSIDE` has all that the files of this folder define.

A file defines `METHOD`, a :class:`mlspl.recipes.Method` whose grid has three combinations: that is all it
takes to have a further method in the benchmark. Libraries are imported where an estimator is built, so that
one that is not installed fails its own trials only.
"""

from importlib import import_module
from pkgutil import iter_modules

from mlspl.recipes import Method

__all__ = ["OUTSIDE"]


def _find_methods() -> dict[str, Method]:
    names = sorted(module.name for module in iter_modules(__path__))
    methods = [import_module(f"{__name__}.{name}").METHOD for name in names]
    return {method.name: method for method in methods}


OUTSIDE: dict[str, Method] = _find_methods()
"""The methods of this folder by name."""

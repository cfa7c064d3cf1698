"""numba's `njit` that also works where compiled code cannot be cached."""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numba


def njit(**options: Any) -> Callable[[Callable], Any]:
    """Compile as `numba.njit` does; where no cache folder can be written, compile in every process.

    numba looks only at a function's own file for changes, so a cached function must use only compiled
    functions and constants of its own file.
    """

    def decorate(function: Callable) -> Any:
        try:
            return numba.njit(**options)(function)
        except RuntimeError:  # numba found no folder
            _warn_once()
            return numba.njit(**(options | {"cache": False}))(function)

    return decorate


@cache
def _warn_once() -> None:
    warnings.warn(
        "mlspl cannot store compiled code: neither its own folder nor your cache folder is writable. Each "
        "process compiles anew, for seconds. Set NUMBA_CACHE_DIR to a folder that only you can write.",
        stacklevel=4,
    )

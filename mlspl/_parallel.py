"""Parallel work over parts, by joblib."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs


def count_workers() -> int:
    """Number of parts that are worked on at a time."""
    return effective_n_jobs(None)


def parallel_map(work: Callable[..., Any], shared: tuple, parts: Iterable[Any]) -> Iterator[Any]:
    """Yield ``work(*shared, part)`` for every part, in order."""
    return Parallel(return_as="generator")(delayed(work)(*shared, part) for part in parts)

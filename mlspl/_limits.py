"""Memory and time of a fit, said before it starts and not when the machine gives up.

Every estimator gives its law of growth; the constants were measured by ``benchmarks/bench_memory.py``. The
memory is right to a factor of 1.5 for the methods with a kernel matrix, and generous for the others. The time
depends on the data and the machine, and is good for telling minutes from days.
"""

import os
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from mlspl.errors import UserError

__all__ = ["Cost", "FitSize", "LargeFitWarning", "check_limits", "machine_memory"]

FLOAT = 8  # bytes


class LargeFitWarning(UserWarning):
    """A fit that takes more than half of the memory."""


class FitSize(NamedTuple):
    """How much there is to learn from: shapes, numbers held by X, pairs of labels to rank."""

    rows: int
    features: int
    labels: int
    values: int
    pairs: int

    @classmethod
    def of(cls, X, Y) -> "FitSize":
        """The size of training data."""
        labels = Y.shape[1] if Y.ndim == 2 else 1
        if sparse.issparse(Y):
            relevant = np.diff(Y.indptr)
        else:
            relevant = np.count_nonzero(Y == 1, axis=1) if Y.ndim == 2 else np.ones(1, dtype=np.intp)
        values = X.nnz if sparse.issparse(X) else X.size
        pairs = np.sum(relevant.astype(np.float64) * (labels - relevant))
        return cls(X.shape[0], X.shape[1], labels, values, int(pairs))

    def with_rows(self, rows) -> "FitSize":
        """The same data with another number of rows."""
        share = rows / self.rows
        return self._replace(rows=rows, values=int(self.values * share), pairs=int(self.pairs * share))


class Cost(NamedTuple):
    """Bytes that a fit takes beside the data, and seconds, to a factor of ten, where that can be told."""

    bytes: float
    seconds: float | None = None


def check_limits(
    name,
    cost: Callable[[FitSize], Cost],
    size: FitSize,
    memory=None,
    others: Mapping[str, Callable] | None = None,
) -> None:
    """Warn before a fit that takes more than half of the memory, refuse one that takes more than all."""
    need = cost(size)
    memory = machine_memory() if memory is None else memory
    if need.bytes <= memory / 2:
        return
    time = "" if need.seconds is None else f" and some {_rough_time(need.seconds)}"
    sentence = (
        f"Fitting {name} on {size.rows:,} rows and {size.labels:,} labels takes about "
        f"{_bytes(need.bytes)} of memory{time}; there are {_bytes(memory)}. "
        f"{_advice(cost, size, memory, others or {})}"
    )
    if need.bytes > memory:
        raise UserError(f"{sentence} If more memory may be used, set MLSPL_MEMORY to the bytes.")
    warnings.warn(sentence, LargeFitWarning, stacklevel=4)


def _advice(cost, size, memory, others) -> str:
    """What to do instead: a setting that fits, how many rows take half of the memory, and other methods."""
    for setting, law in others.items():
        if law(size).bytes <= memory / 2:
            return f"With {setting} it takes about {_bytes(law(size).bytes)}."
    fits, too_many = 0, size.rows
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if cost(size.with_rows(middle)).bytes <= memory / 2:
            fits = middle
        else:
            too_many = middle
    if fits < 2:
        return f"With {size.features:,} features and {size.labels:,} labels two rows are too much."
    advice = f"About {fits:,} rows take half of it."
    if cost(size.with_rows(2 * size.rows)).bytes > 3 * cost(size).bytes:
        advice += " MLkNNClassifier and TRAMClassifier hold no matrix of rows by rows, and take far less."
    return advice


def machine_memory() -> float:
    """Bytes of memory there are for this process.

    ``MLSPL_MEMORY`` if it is set; else the machine's memory, or the limit of the container or the shell
    (``ulimit -v``) if that is smaller; infinite where the system does not tell.
    """
    told = os.environ.get("MLSPL_MEMORY")
    if told:
        try:
            return float(told)
        except ValueError:
            raise UserError(f"MLSPL_MEMORY is {told!r}; give a number of bytes, such as 8e9.") from None
    return min([_installed(), *_shell_limits()])


@cache
def _installed() -> float:
    """Read once: it stays as it is, and three files take longer than a small fit's solver."""
    return min([_physical(), *_container_limits()])


def _physical() -> float:
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return _physical_on_windows()


def _physical_on_windows() -> float:
    import ctypes

    kernel = getattr(getattr(ctypes, "windll", None), "kernel32", None)
    kilobytes = ctypes.c_ulonglong()
    if kernel is None or not kernel.GetPhysicallyInstalledSystemMemory(ctypes.byref(kilobytes)):
        return np.inf
    return kilobytes.value * 1024.0


def _container_limits(root=Path("/sys/fs/cgroup"), membership=Path("/proc/self/cgroup")) -> list[float]:
    """Limits of this process's control group and of those around it (versions 2 and 1)."""
    try:
        own = membership.read_text().rpartition("::")[2].strip().lstrip("/")
    except OSError:
        return []
    folders = [root / own, *(root / own).parents]
    files = [folder / "memory.max" for folder in folders if folder.is_relative_to(root)]
    limits = []
    for file in [*files, root / "memory" / "memory.limit_in_bytes"]:
        try:
            limits.append(float(file.read_text()))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return limits


def _shell_limits() -> list[float]:
    try:
        import resource
    except ImportError:
        return []
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return [] if soft == resource.RLIM_INFINITY else [float(soft)]


def _bytes(size: float) -> str:
    for unit, scale in (("TB", 1e12), ("GB", 1e9)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size / 1e6:.3g} MB"


def _rough_time(seconds: float) -> str:
    for unit, length in (("years", 365 * 86400), ("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= length:
            return unit
    return "seconds"

"""The memory check: arrays that do not fit are refused before they are allocated."""

import os
from contextlib import suppress
from functools import cache
from pathlib import Path

from mlspl.errors import UserError


def check_memory(n_bytes: float, what: str, remedy: str) -> None:
    """Refuse arrays of `n_bytes`, with what is already held for the same purpose, if there is less memory.

    `what` takes them, as the subject of a sentence; `remedy` is a sentence that says what to do instead.
    """
    available = available_memory()
    if n_bytes > available:
        raise UserError(
            f"{what} would take {_format_bytes(n_bytes)} of memory; there are {_format_bytes(available)}. "
            f"{remedy} If more memory may be used, set MLSPL_MEMORY to the number of bytes."
        )


def available_memory() -> float:
    """Bytes of memory that this process may use.

    This is ``MLSPL_MEMORY`` if set; else the machine's memory, or the limit of the container or the shell
    (``ulimit -v``) if that is smaller; infinite if the system does not say.
    """
    setting = os.environ.get("MLSPL_MEMORY")
    if setting:
        try:
            return float(setting)
        except ValueError:
            raise UserError(f"MLSPL_MEMORY is {setting!r}; give a number of bytes, such as 8e9.") from None
    try:
        import resource
    except ImportError:  # Windows
        return _installed_memory()
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return _installed_memory() if limit == resource.RLIM_INFINITY else min(_installed_memory(), float(limit))


@cache
def _installed_memory() -> float:
    try:
        physical = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):  # Windows
        physical = float("inf")
    return min([physical, *_container_limits()])


def _container_limits(root=Path("/sys/fs/cgroup"), membership=Path("/proc/self/cgroup")) -> list[float]:
    """Memory limits of this process's control group and of those around it (versions 2 and 1)."""
    try:
        own = root / membership.read_text().rpartition("::")[2].strip().lstrip("/")
    except OSError:
        return []
    files = [folder / "memory.max" for folder in (own, *own.parents) if folder.is_relative_to(root)]
    limits = []
    for file in [*files, root / "memory" / "memory.limit_in_bytes"]:
        with suppress(OSError, ValueError):  # no such file, or "max"
            limits.append(float(file.read_text()))
    return limits


def _format_bytes(size: float) -> str:
    unit, scale = ("TB", 1e12) if size >= 1e12 else ("GB", 1e9) if size >= 1e9 else ("MB", 1e6)
    return f"{size / scale:.3g} {unit}"

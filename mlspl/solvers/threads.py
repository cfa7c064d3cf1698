"""Calls of compiled functions: their arrays, threads, BLAS threads and Ctrl-C."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock

import numpy as np
from threadpoolctl import threadpool_limits


def read_only(array, dtype=np.float64) -> np.ndarray:
    """The array as a read-only C-contiguous view, for one compiled version."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


def check_costs(C, shape) -> np.ndarray:
    """The costs of all pairs, as an array of this shape."""
    costs = read_only(np.broadcast_to(np.asarray(C, dtype=np.float64), shape))
    if not (np.isfinite(costs).all() and (costs >= 0).all()):
        raise ValueError("C must be finite and not negative; 0 leaves a pair out.")
    return costs


def run_threads(
    work: Callable[..., object], calls: Iterable[tuple], n_threads: int, stop: np.ndarray | None = None
) -> None:
    """Call ``work(*arguments)``, which releases the GIL, for every tuple, on at most `n_threads` threads.

    After an exception or Ctrl-C, calls that have not started are dropped; running ones see `stop[0]`. Given
    `stop`, even a single call runs on another thread, so that this one can receive Ctrl-C.
    """
    calls = list(calls)
    n_threads = min(n_threads, len(calls))
    if n_threads <= 1 and stop is None:
        for arguments in calls:
            work(*arguments)
        return
    pool = ThreadPoolExecutor(max(n_threads, 1))
    try:
        for future in [pool.submit(work, *arguments) for arguments in calls]:
            future.result()
    except BaseException:
        if stop is not None:
            stop[0] = True
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def raise_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt where numba, while converting arrays, turns Ctrl-C into a SystemError."""
    try:
        yield
    except SystemError as error:
        cause = error.__cause__
        while isinstance(cause, SystemError):
            cause = cause.__cause__
        if isinstance(cause, KeyboardInterrupt):
            raise cause from None
        raise


class _Limit:
    """The limit that is set, if any, and the number of its users."""

    lock = Lock()
    users = 0
    limits: threadpool_limits | None = None


@contextmanager
def one_library_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread in this process; the last of overlapping callers restores them."""
    with _Limit.lock:
        if _Limit.users == 0:
            _Limit.limits = threadpool_limits(1)
        _Limit.users += 1
    try:
        yield
    finally:
        with _Limit.lock:
            _Limit.users -= 1
            if _Limit.users == 0 and _Limit.limits is not None:
                _Limit.limits.restore_original_limits()

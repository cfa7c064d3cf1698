"""Calls of compiled functions: their arrays, threads, BLAS threads and Ctrl-C."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock

import numpy as np
from threadpoolctl import threadpool_limits

__all__ = ["one_library_thread", "raise_interrupts", "read_only", "run_threads"]


def read_only(array) -> np.ndarray:
    """The array as C-contiguous float64, as a read-only view.

    Numba compiles once more for read-only arrays, such as those that joblib shares between processes. With
    every input in this form there is one compiled version, which cannot change its inputs.
    """
    view = np.ascontiguousarray(array, dtype=np.float64).view()
    view.flags.writeable = False
    return view


def run_threads(
    work: Callable[..., object], calls: Iterable[tuple], n_threads: int, stop: np.ndarray | None = None
) -> None:
    """Call ``work(*arguments)`` for every tuple of arguments, on at most `n_threads` threads.

    `work` is a compiled function that releases the GIL and writes its result into its arguments, so that
    the result does not depend on the number of threads. After an exception or Ctrl-C, calls that have not
    started are dropped, and running ones are waited for. Long calls end when `stop[0]` is true; given `stop`,
    even a single call runs on another thread, so that this one can receive Ctrl-C.
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
    """Raise KeyboardInterrupt when Ctrl-C arrives in a compiled function that returns arrays.

    numba handles the signal while it converts the arrays, and raises a SystemError then.
    """
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
    """Limit BLAS and OpenMP to one thread.

    The limits hold for the whole process. The first of several overlapping callers sets them, and the last
    one restores them.

    Examples
    --------
    >>> from threadpoolctl import threadpool_info
    >>> with one_library_thread():
    ...     {library["num_threads"] for library in threadpool_info()}
    {1}
    """
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

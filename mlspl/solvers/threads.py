"""Run compiled, GIL-free work on a few threads, and let Ctrl-C out at once."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["run_threads"]


def run_threads(work: Callable[..., object], calls: Iterable[tuple], n_threads: int) -> None:
    """Call ``work(*arguments)`` for every tuple of arguments, on at most `n_threads` threads.

    `work` is a compiled function that releases the GIL and writes its answer into its arguments, so that
    the result does not depend on the number of threads. When an exception or Ctrl-C arrives, calls
    that have not begun are dropped; only those that are running are waited for.

    Parameters
    ----------
    work : callable
        A numba function compiled with ``nogil=True``.
    calls : iterable of tuple
        The arguments of each call.
    n_threads : int
        1 runs everything in the calling thread.

    Examples
    --------
    >>> import numpy as np
    >>> squares = np.zeros(3)
    >>> run_threads(lambda i: squares.__setitem__(i, i * i), [(0,), (1,), (2,)], n_threads=2)
    >>> squares
    array([0., 1., 4.])
    """
    calls = list(calls)
    n_threads = min(n_threads, len(calls))
    if n_threads <= 1:
        for arguments in calls:
            work(*arguments)
        return
    pool = ThreadPoolExecutor(n_threads)
    try:
        for future in [pool.submit(work, *arguments) for arguments in calls]:
            future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)

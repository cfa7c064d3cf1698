"""Run compiled, GIL-free work on a few threads, let Ctrl-C out at once, and keep BLAS to one meanwhile."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock

import numpy as np
from threadpoolctl import threadpool_limits

__all__ = ["one_library_thread", "run_threads"]


def run_threads(
    work: Callable[..., object], calls: Iterable[tuple], n_threads: int, stop: np.ndarray | None = None
) -> None:
    """Call ``work(*arguments)`` for every tuple of arguments, on at most `n_threads` threads.

    `work` is a compiled function that releases the GIL and writes its answer into its arguments, so that
    the result does not depend on the number of threads. When an exception or Ctrl-C arrives, calls
    that have not begun are dropped; only those that are running are waited for. Long calls look at `stop[0]`
    and end when it is true; then even one thread is another than this, which is free to hear Ctrl-C.
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


class _Limit:
    """The limit that is set, if any, and how many are inside it."""

    lock = Lock()
    users = 0
    limits: threadpool_limits | None = None


@contextmanager
def one_library_thread() -> Iterator[None]:
    """BLAS and OpenMP work on one thread in here.

    Their limits hold for the whole process. Were each caller to set and restore them, callers that overlap
    would restore what another had set; so the first one in sets them, and the last one out restores them.

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

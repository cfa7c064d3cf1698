"""Parts of one piece of work: here, or wherever joblib was told to compute, a Dask cluster included."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import uuid4

from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend

from mlspl.errors import UserError

__all__ = ["count_workers", "on_cluster", "spread"]

_CLIENT: ContextVar[Any] = ContextVar("_CLIENT", default=None)


@contextmanager
def on_cluster(client: Any) -> Iterator[None]:
    """Spread over the cluster of a Dask client in here.

    Unlike ``joblib.parallel_config("dask")``, which has the same effect on `spread`, this leaves the small
    parallel loops of scikit-learn where they are.
    """
    token = _CLIENT.set(client)
    try:
        yield
    finally:
        _CLIENT.reset(token)


def count_workers() -> int:
    """How many parts are worked on at a time: 1, or as many as a cluster has or joblib was told."""
    client = _client()
    return effective_n_jobs(None) if client is None else max(1, sum(client.ncores().values()))


def spread(work: Callable[..., Any], shared: tuple, parts: Iterable[Any]) -> Iterator[Any]:
    """Yield ``work(*shared, part)`` for every part, in their order.

    What is shared is sent to a cluster once. joblib scatters it there, and waits for ever if the only worker
    that holds it dies; so it is a task of its own here, which Dask repeats like any other whose result is
    lost. A worker that dies costs time only.
    """
    client = _client()
    if client is None:
        yield from Parallel(return_as="generator")(delayed(work)(*shared, part) for part in parts)
    else:
        yield from _spread_over_cluster(client, work, shared, parts)


def _client() -> Any:
    """The Dask client to work with, if any."""
    return _CLIENT.get() or getattr(get_active_backend()[0], "client", None)


def _spread_over_cluster(client, work, shared, parts) -> Iterator[Any]:
    import dask
    from distributed import KilledWorker

    name = f"mlspl-{getattr(work, '__name__', 'work').strip('_')}-{uuid4().hex}"
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        held = client.submit(_hold, shared, key=f"{name}-shared")
        futures = deque(
            client.submit(_work_on, work, held, part, key=f"{name}-{number}")
            for number, part in enumerate(parts)
        )
    try:
        while futures:
            # Not kept once it is here: the cluster need not hold it either.
            yield futures.popleft().result()
    except KilledWorker:
        raise UserError(
            "The same part of the fit has taken several Dask workers with it: give them more memory."
        ) from None
    except (CancelledError, OSError):
        raise UserError("The Dask scheduler is gone or dropped the work; start the fit again.") from None
    finally:
        client.cancel([held, *futures])


def _hold(shared: tuple) -> tuple:
    return shared


def _work_on(work: Callable[..., Any], shared: tuple, part: Any) -> Any:
    return work(*shared, part)

"""Parallel work over parts: by joblib, or on a Dask cluster."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import uuid4

from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend

from mlspl._cluster import fetch
from mlspl.errors import UserError

__all__ = ["count_workers", "on_cluster", "parallel_map"]

_CLIENT: ContextVar[Any] = ContextVar("_CLIENT", default=None)


@contextmanager
def on_cluster(client: Any) -> Iterator[None]:
    """Use the cluster of a Dask client for `parallel_map` in this context.

    Unlike ``joblib.parallel_config("dask")``, this does not move scikit-learn's own parallel loops.
    """
    token = _CLIENT.set(client)
    try:
        yield
    finally:
        _CLIENT.reset(token)


def count_workers() -> int:
    """Number of parts that are worked on at a time."""
    client = _get_client()
    return effective_n_jobs(None) if client is None else max(1, sum(client.ncores().values()))


def parallel_map(work: Callable[..., Any], shared: tuple, parts: Iterable[Any]) -> Iterator[Any]:
    """Yield ``work(*shared, part)`` for every part, in order.

    Shared arguments are sent to a cluster once, as a task of their own. joblib would scatter them, and then
    wait for ever if the only worker that holds them dies; a task is repeated.
    """
    client = _get_client()
    if client is None:
        yield from Parallel(return_as="generator")(delayed(work)(*shared, part) for part in parts)
    else:
        yield from _map_on_cluster(client, work, shared, parts)


def _get_client() -> Any:
    return _CLIENT.get() or getattr(get_active_backend()[0], "client", None)


def _map_on_cluster(client, work, shared, parts) -> Iterator[Any]:
    import dask
    from distributed import KilledWorker

    name = f"mlspl-{getattr(work, '__name__', 'work').strip('_')}-{uuid4().hex}"
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        sent = client.submit(_identity, shared, key=f"{name}-shared")
        futures = deque(
            client.submit(_work_on, work, sent, part, key=f"{name}-{number}")
            for number, part in enumerate(parts)
        )
    try:
        while futures:
            future = futures.popleft()  # so that the cluster can free the result
            ((_, result),) = fetch(client, [future])
            if isinstance(result, KilledWorker):
                raise UserError("One part of the fit killed several Dask workers. Give them more memory.")
            yield result
    finally:
        client.cancel([sent, *futures])


def _identity(shared: tuple) -> tuple:
    return shared


def _work_on(work: Callable[..., Any], shared: tuple, part: Any) -> Any:
    return work(*shared, part)

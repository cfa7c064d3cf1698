"""Opening a Dask cluster, one that runs elsewhere or one started here."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from mlspl.errors import UserError

__all__ = ["open_cluster"]

_CONNECT_SECONDS = 10
_RECONNECT_SECONDS = 10


@contextmanager
def open_cluster(scheduler: str, jobs: int) -> Iterator[Any]:
    """Yield the client of a scheduler, ``tcp://host:port``, or of `jobs` workers started here for "local".

    Its workers are there, and have this version of the package.
    """
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise UserError("--scheduler needs Dask; install it with: pip install 'mlspl[dask]'.") from None

    with ExitStack() as stack:
        # A scheduler that has gone is told of in a sentence by whoever works with it, and soon.
        stack.enter_context(_quiet(logging.getLogger("distributed")))
        stack.enter_context(dask.config.set({"distributed.comm.timeouts.connect": f"{_RECONNECT_SECONDS}s"}))
        if scheduler == "local":
            try:
                cluster = stack.enter_context(
                    LocalCluster(n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=":0")
                )
            except RuntimeError as error:
                raise UserError(
                    f"No Dask cluster starts on this machine ({error}); leave --scheduler out."
                ) from None
            client = stack.enter_context(Client(cluster))
        else:
            try:
                client = stack.enter_context(Client(scheduler, timeout=_CONNECT_SECONDS))
            except (OSError, ValueError) as error:
                raise UserError(
                    f"No Dask scheduler answers at {scheduler} ({error}); "
                    "give the address that `dask scheduler` prints, such as tcp://host:8786, or local."
                ) from None
        _check_workers(client, scheduler)
        yield client


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Have the handlers of a logger, to which those below it hand on, drop everything meanwhile."""
    before = [(handler, handler.level) for handler in logger.handlers]
    for handler, _ in before:
        handler.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for handler, level in before:
            handler.setLevel(level)


def _check_workers(client, scheduler: str) -> None:
    """Refuse a cluster without workers or with another version of the package."""
    ours = version("mlspl")
    try:
        client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
        theirs = client.run(version, "mlspl")
    except PackageNotFoundError:
        raise UserError(f"A worker of {scheduler} has no mlspl; install mlspl {ours} there.") from None
    except TimeoutError:
        raise UserError(
            f"The Dask scheduler {scheduler} has no workers; start some with `dask worker`."
        ) from None
    for worker, other in theirs.items():
        if other != ours:
            raise UserError(
                f"The worker {worker} has mlspl {other}, this is {ours}; install the same on both."
            )

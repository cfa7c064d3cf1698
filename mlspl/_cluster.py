"""Opening a Dask cluster, one that runs elsewhere or one started here."""

import logging
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from mlspl.errors import UserError

_CONNECT_SECONDS = _RECONNECT_SECONDS = 10
_SECONDS_WITHOUT_WORKERS = _ANSWER_SECONDS = 30
_LOOK_SECONDS, _POLL_SECONDS = 2, 0.01
_LOOPBACK = "127.0.0.1"


@contextmanager
def open_cluster(scheduler: str, jobs: int) -> Iterator[Any]:
    """Yield the client of a scheduler, ``tcp://host:port``, or of `jobs` workers started here for "local".

    Its workers are there, and have this version of the package.
    """
    try:
        import dask
        from distributed import Client, LocalCluster, Security
    except ImportError:
        raise UserError("--scheduler needs Dask; install it with: pip install 'mlspl[dask]'.") from None

    with ExitStack() as stack:
        # A scheduler that has gone is told of in a sentence by whoever works with it, and soon.
        logger = logging.getLogger("distributed")
        stack.callback(setattr, logger, "handlers", logger.handlers)
        logger.handlers = [logging.NullHandler()]
        config: dict[str, Any] = {"distributed.comm.timeouts.connect": f"{_RECONNECT_SECONDS}s"}
        config["distributed.admin.large-graph-warning-threshold"] = "1TB"
        if scheduler == "local":
            # No pages for browsers, and no connection without the certificate that is made here.
            config |= {f"distributed.{part}.http.routes": [] for part in ("scheduler", "worker")}
        stack.enter_context(dask.config.set(config))
        if scheduler == "local":
            try:
                cluster = LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    processes=True,
                    host=_LOOPBACK,
                    dashboard_address=f"{_LOOPBACK}:0",
                    worker_dashboard_address=f"{_LOOPBACK}:0",
                    scheduler_kwargs={"dashboard": False},
                    security=Security.temporary(),
                )
            except (ImportError, RuntimeError) as error:
                raise UserError(
                    f"No Dask cluster starts on this machine ({error}). Leave out --scheduler."
                ) from None
            client = Client(stack.enter_context(cluster))
        else:
            try:
                client = Client(scheduler, timeout=_CONNECT_SECONDS)
            except (OSError, ValueError) as error:
                raise UserError(
                    f"No Dask scheduler answers at {scheduler} ({error}); "
                    "give the address that `dask scheduler` prints, such as tcp://host:8786, or local."
                ) from None
        stack.callback(_close, client)
        _check_workers(client, scheduler)
        yield client


def fetch(client: Any, futures: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each Dask future with its result, or with `KilledWorker`, as the results arrive here.

    A finished task is not enough: its worker may die before the result is fetched, and Dask would then wait
    for another worker without end. Here it is a UserError if a cluster has no worker for half a minute.
    """
    from distributed import KilledWorker, as_completed

    # A local cluster starts its workers again, which takes long on a busy machine.
    longest = _SECONDS_WITHOUT_WORKERS * (1 if client.cluster is None else 10)
    arrived = as_completed(futures, loop=client.loop, with_results=True, raise_errors=False)
    last_worker = next_look = time.monotonic()
    try:
        while not arrived.is_empty():
            if arrived.has_ready():
                future, result = next(arrived)
                last_worker = time.monotonic()
                # Not by the status: a result that has arrived is valid, though its worker may be gone by now.
                error = result[1] if isinstance(result, tuple) else result
                if isinstance(error, KilledWorker):
                    result = error
                elif isinstance(error, BaseException):
                    raise error
                yield future, result
                del future, result  # so that the cluster can free the result
            elif time.monotonic() < next_look:
                time.sleep(_POLL_SECONDS)
            elif client.nthreads(callback_timeout=_ANSWER_SECONDS):
                last_worker = time.monotonic()
                next_look = last_worker + _LOOK_SECONDS
            elif time.monotonic() - last_worker > longest:
                raise UserError(
                    f"The Dask cluster has had no worker for {longest} seconds. Start one with "
                    "`dask worker` and run the same command again."
                )
            else:
                next_look = time.monotonic() + _LOOK_SECONDS
    except (CancelledError, OSError):
        raise UserError(
            "The Dask scheduler is gone or dropped the work. Run the same command again."
        ) from None


def _close(client: Any) -> None:
    with suppress(OSError):  # also if it takes too long: the error that came before matters more
        client.close(timeout=_CONNECT_SECONDS)


def _check_workers(client, scheduler: str) -> None:
    """Refuse a cluster without workers or with another version of the package."""
    ours = version("mlspl")
    try:
        client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
        versions = set(client.run(version, "mlspl").values())
    except (PackageNotFoundError, OSError) as error:
        raise UserError(
            f"The Dask scheduler {scheduler} has no workers that can be used ({error}). Start some with "
            f"`dask worker`, where mlspl {ours} is installed."
        ) from None
    if others := versions - {ours}:
        raise UserError(f"Workers of {scheduler} have mlspl {min(others)}, this is {ours}; install the same.")

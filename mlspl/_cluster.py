"""Opening a Dask cluster, one that runs elsewhere or one started here."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from mlspl.errors import UserError

__all__ = ["open_cluster", "wait_for"]

_CONNECT_SECONDS = 10
_RECONNECT_SECONDS = 10
_SECONDS_WITHOUT_WORKERS = 30
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
        stack.enter_context(_quiet(logging.getLogger("distributed")))
        stack.enter_context(dask.config.set({"distributed.comm.timeouts.connect": f"{_RECONNECT_SECONDS}s"}))
        if scheduler == "local":
            # No pages for browsers, and no connection without the certificate that is made here.
            routes: dict[str, list] = {
                f"distributed.{part}.http.routes": [] for part in ("scheduler", "worker")
            }
            stack.enter_context(dask.config.set(routes))
            try:
                cluster = stack.enter_context(
                    LocalCluster(
                        n_workers=jobs,
                        threads_per_worker=1,
                        processes=True,
                        host=_LOOPBACK,
                        dashboard_address=f"{_LOOPBACK}:0",
                        worker_dashboard_address=f"{_LOOPBACK}:0",
                        scheduler_kwargs={"dashboard": False},
                        security=Security.temporary(),
                    )
                )
            except ImportError:
                raise UserError(
                    "--scheduler local needs the package cryptography. Install it: pip install 'mlspl[dask]'."
                ) from None
            except RuntimeError as error:
                raise UserError(
                    f"No Dask cluster starts on this machine ({error}). Leave out --scheduler."
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


def wait_for(client: Any, is_done: Callable[[], object]) -> None:
    """Wait until something is done; end with an error if the cluster has no worker for half a minute."""
    started = last_worker = last_look = time.monotonic()
    while not is_done():
        now = time.monotonic()
        if now - last_look > 2:
            last_look = now
            if client.ncores():
                last_worker = now
            elif now - last_worker > _SECONDS_WITHOUT_WORKERS:
                raise UserError(
                    f"The Dask cluster has had no worker for {now - last_worker:.0f} seconds. Start one with "
                    "`dask worker` and run the same command again."
                )
        # Short tasks are not delayed, long ones cost no processor time.
        time.sleep(0.002 if now - started < 0.1 else 0.05)


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

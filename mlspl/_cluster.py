"""Opening a Dask cluster, one that runs elsewhere or one started here."""

import asyncio
import logging
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from queue import Empty, SimpleQueue
from typing import Any

from mlspl.errors import UserError

__all__ = ["fetch", "open_cluster"]

_CONNECT_SECONDS = 10
_RECONNECT_SECONDS = 10
_SECONDS_WITHOUT_WORKERS = 30
_LOOK_SECONDS = 2
_ANSWER_SECONDS = 30
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
            client = Client(cluster)
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


def fetch(client: Any, futures: Iterable[Any]) -> Iterator[tuple[Any, Future]]:
    """Yield each Dask future with a future of its result that is done, as the results arrive here.

    A finished task is not enough: its worker may die before the result is fetched, and Dask would then wait
    for another worker without end. Here it is a UserError if a cluster has no worker for half a minute.
    """
    arrived: SimpleQueue[tuple[Any, Future]] = SimpleQueue()

    def start(future: Any) -> Future:
        coroutine = client.gather(future, asynchronous=True)
        fetched = asyncio.run_coroutine_threadsafe(coroutine, client.loop.asyncio_loop)
        fetched.add_done_callback(lambda fetched: arrived.put((future, fetched)))
        return fetched

    # A local cluster starts its workers again, which takes long on a busy machine.
    longest = _SECONDS_WITHOUT_WORKERS * (1 if client.cluster is None else 10)
    waiting = set(map(start, futures))
    last_worker, joined = time.monotonic(), 0
    while waiting:
        try:
            pair = arrived.get(timeout=_LOOK_SECONDS)
        except Empty:
            before, joined = joined, _count_joined(client)
            if joined > before or client.nthreads(callback_timeout=_ANSWER_SECONDS):
                last_worker = time.monotonic()
            elif (passed := time.monotonic() - last_worker) > longest:
                raise UserError(
                    f"The Dask cluster has had no worker for {passed:.0f} seconds. Start one with "
                    "`dask worker` and run the same command again."
                ) from None
        else:
            last_worker = time.monotonic()
            waiting.remove(pair[1])
            yield pair
            del pair  # so that the cluster can free the result


def _count_joined(client: Any) -> int:
    """Count the workers that ever joined: a task that kills workers may do so between two looks."""
    events = client.get_events("all")
    return sum(isinstance(event, dict) and event.get("action") == "add-worker" for _, event in events)


def _close(client: Any) -> None:
    with suppress(OSError):  # also if it takes too long: the error that came before matters more
        client.close(timeout=_CONNECT_SECONDS)


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
    except OSError as error:
        raise UserError(f"A worker of {scheduler} stopped ({error}). Run the same command again.") from None
    for worker, other in theirs.items():
        if other != ours:
            raise UserError(
                f"The worker {worker} has mlspl {other}, this is {ours}; install the same on both."
            )

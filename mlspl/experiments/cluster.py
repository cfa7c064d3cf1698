"""Sending trials to a Dask cluster, one that runs elsewhere or one started here."""

import logging
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from importlib.metadata import PackageNotFoundError, version

from mlspl.datasets import Dataset
from mlspl.errors import UserError
from mlspl.experiments.trial import WORKER_DIED, Outcome, Trial

__all__ = ["dask_results"]

_CONNECT_SECONDS = 10
_RECONNECT_SECONDS = 10


def dask_results(
    run: Callable[[Trial, Dataset], Outcome],
    trials: Sequence[Trial],
    datasets: Mapping[str, Dataset],
    scheduler: str,
    jobs: int,
) -> Generator[tuple[Trial, Outcome | None]]:
    """Run trials on a Dask cluster and yield their outcomes as they arrive.

    Dask runs the work of a lost worker again on the others; a trial that has taken several workers with it
    becomes a failed one.
    """
    try:
        import dask
        from distributed import Client, KilledWorker, LocalCluster, as_completed
    except ImportError:
        raise UserError("--scheduler needs Dask; install it with: pip install 'mlspl[dask]'.") from None

    with ExitStack() as stack:
        # A scheduler that has gone is told of in a sentence, below, and soon.
        stack.enter_context(_quiet(logging.getLogger("distributed")))
        stack.enter_context(dask.config.set({"distributed.comm.timeouts.connect": f"{_RECONNECT_SECONDS}s"}))
        if scheduler == "local":
            cluster = stack.enter_context(
                LocalCluster(n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=":0")
            )
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
        # Data in the graph, unlike scattered data, outlives the worker that holds it; it may be large.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            data = {
                fingerprint: client.submit(_hold, datasets[name], key=f"mlspl-data-{fingerprint}")
                for name, fingerprint in {(trial.dataset, trial.fingerprint) for trial in trials}
            }
        futures = {
            client.submit(run, trial, data[trial.fingerprint], key=f"mlspl-trial-{trial.key}"): trial
            for trial in trials
        }
        for future in as_completed(futures):
            try:
                outcome = future.result()
            except KilledWorker:
                outcome = Outcome(error=WORKER_DIED)
            except (CancelledError, OSError):
                raise UserError(
                    f"The Dask scheduler {scheduler} is gone or dropped the work. Finished work is stored; "
                    "the same command goes on from there."
                ) from None
            yield futures.pop(future), outcome


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


def _hold(dataset: Dataset) -> Dataset:
    return dataset


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

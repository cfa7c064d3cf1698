"""Sending trials to a Dask cluster."""

from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import CancelledError

from mlspl._cluster import open_cluster
from mlspl.datasets import Dataset
from mlspl.errors import UserError
from mlspl.experiments.trial import WORKER_DIED, Outcome, Trial

__all__ = ["dask_results"]


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
    with open_cluster(scheduler, jobs) as client:
        import dask
        from distributed import KilledWorker, as_completed

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


def _hold(dataset: Dataset) -> Dataset:
    return dataset

"""Running trials on all cores or on a Dask cluster, each stored as soon as it ends."""

import os
import random
import signal
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from threading import Thread, current_thread, main_thread

from joblib import Parallel, cpu_count, delayed, parallel_config

from mlspl._cluster import fetch, open_cluster
from mlspl.datasets import Dataset
from mlspl.experiments.execution import run_trial
from mlspl.experiments.store import Store
from mlspl.experiments.trial import WORKER_DIED, Outcome, Trial

Results = Generator[tuple[Trial, Outcome | None]]
Run = Callable[[Trial, Dataset], Outcome]


def run_trials(
    trials: Iterable[Trial],
    datasets: Mapping[str, Dataset],
    store: Store,
    jobs: int | None = None,
    scheduler: str | None = None,
    on_result: Callable[[Trial, Outcome | None], None] = lambda trial, outcome: None,
    run: Run = run_trial,
) -> None:
    """Run the trials that the store does not have yet and record every outcome as it arrives.

    Trials that failed earlier are tried again. Trials run split by split, so that an interrupted run can be
    compared, and in random order within a split, so that two processes seldom run the same trial.

    Parameters
    ----------
    trials, datasets, store
        What to run, the data sets by name, and where the outcomes go.
    jobs : int, optional
        Worker processes; as many as there are cores by default; 1 runs in this process.
    scheduler : str, optional
        Address of a Dask scheduler, ``tcp://host:port``, or ``"local"`` for a Dask cluster on this machine.
    on_result : callable, optional
        Called with each trial and its outcome, or None when another process had finished it meanwhile.
    run : callable, default=run_trial
        Importable by the workers; ``partial(run_trial, methods=...)`` runs methods of your own.

    Examples
    --------
    >>> import tempfile
    >>> from mlspl.datasets import load_dataset
    >>> from mlspl.experiments import Store, plan_trials
    >>> data = {"digits-traits": load_dataset("digits-traits")}
    >>> with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/results.db") as store:
    ...     run_trials(plan_trials(data, ["ml-knn"], splits=2), data, store, jobs=1)
    ...     len(store.finished())
    2
    """
    finished = store.finished()
    pending = [trial for trial in trials if trial.key not in finished]
    random.SystemRandom().shuffle(pending)
    pending.sort(key=lambda trial: trial.split)
    if scheduler is None:
        results = _on_processes(run, pending, datasets, store, jobs or cpu_count())
    else:
        results = _on_cluster(run, pending, datasets, scheduler, jobs or cpu_count())
    with closing(results):
        for trial, outcome in results:
            if outcome is not None:
                store.record(trial, outcome)
            on_result(trial, outcome)


def _on_processes(run: Run, trials: Sequence[Trial], datasets, store: Store, jobs: int) -> Results:
    waiting = {trial.key: trial for trial in trials}
    while waiting:
        try:
            with closing(_parallel(run, list(waiting.values()), datasets, store, jobs)) as results:
                for key, outcome in results:
                    yield waiting.pop(key), outcome
        except BrokenProcessPool:
            # One of the trials that had been handed out may be what kills its process: find out one by one.
            for trial in list(waiting.values())[: 2 * jobs]:
                try:
                    ((_, outcome),) = _parallel(run, [trial], datasets, store, jobs)
                except BrokenProcessPool:
                    outcome = Outcome(error=WORKER_DIED)
                yield waiting.pop(trial.key), outcome


def _parallel(
    run: Run, trials: list[Trial], datasets, store: Store, jobs: int
) -> Generator[tuple[str, Outcome | None]]:
    def call(trial: Trial) -> tuple:
        if store.is_finished(trial.key):  # by another command meanwhile
            return delayed(_keyed)(None, trial, None)
        return delayed(_keyed)(run, trial, datasets[trial.dataset])

    calls = map(call, trials)
    if jobs == 1:
        return (function(*arguments, **named) for function, arguments, named in calls)
    worker = {"initializer": _watch_parent, "initargs": (os.getpid(),)}
    with parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1, **worker), _ctrl_c_ignored():
        # Batches would lose finished trials when this process is killed.
        return Parallel(batch_size=1, return_as="generator_unordered")(calls)


def _keyed(run: Run | None, trial: Trial, dataset: Dataset | None) -> tuple[str, Outcome | None]:
    return trial.key, None if run is None or dataset is None else run(trial, dataset)


def _on_cluster(
    run: Run, trials: Sequence[Trial], datasets: Mapping[str, Dataset], scheduler: str, jobs: int
) -> Results:
    """Yield outcomes of a Dask cluster, which repeats the work of a lost worker on others."""
    with open_cluster(scheduler, jobs) as client:
        from distributed import KilledWorker

        # Data in the graph, unlike scattered data, outlives the worker that holds it.
        data = {
            fingerprint: client.submit(_hold, datasets[name], key=f"mlspl-data-{fingerprint}")
            for name, fingerprint in {(trial.dataset, trial.fingerprint) for trial in trials}
        }
        futures = {
            client.submit(run, trial, data[trial.fingerprint], key=f"mlspl-trial-{trial.key}"): trial
            for trial in trials
        }
        for future, outcome in fetch(client, list(futures)):
            killed = isinstance(outcome, KilledWorker)
            yield futures.pop(future), Outcome(error=WORKER_DIED) if killed else outcome
            del future, outcome


def _hold(dataset: Dataset) -> Dataset:
    return dataset


@contextmanager
def _ctrl_c_ignored() -> Generator[None]:
    """Processes started in here ignore Ctrl-C, which reaches the whole process group."""
    if current_thread() is not main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _watch_parent(parent: int) -> None:
    Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)

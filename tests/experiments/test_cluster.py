"""Dask: the same numbers, a killed worker notwithstanding, and sentences where there is no cluster."""

import os
import signal
import socket
from dataclasses import replace

import pytest

from mlspl.datasets import load_dataset
from mlspl.errors import UserError
from mlspl.experiments import Store, cluster, plan_trials, run_trials

distributed = pytest.importorskip("distributed", reason="needs the extra dask")


def test_a_killed_worker_costs_time_and_no_results(tmp_path):
    full = load_dataset("digits-traits")
    data = {"digits": replace(full, X=full.X[:200], Y=full.Y[:200])}
    trials = plan_trials(data, ["ml-knn"], splits=12)
    with Store(tmp_path / "here.db") as store:
        run_trials(trials, data, store, jobs=1)
        here = store.frame(trial.key for trial in trials)["scores"].tolist()

    local = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with local, Store(tmp_path / "there.db") as store:
        arrived, victims = [], []

        def kill_a_worker(trial, outcome):
            arrived.append(trial)
            if len(arrived) == 2:
                victims.append(next(iter(local.workers.values())).pid)
                os.kill(victims[0], signal.SIGKILL)

        run_trials(trials, data, store, scheduler=local.scheduler_address, on_result=kill_a_worker)
        assert store.frame(trial.key for trial in trials)["scores"].tolist() == here
        assert victims[0] not in {nanny.pid for nanny in local.workers.values()}
    assert sorted(trial.split for trial in arrived) == list(range(12))


def test_a_scheduler_that_is_not_there_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 1)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{unused.getsockname()[1]}"
    with Store(tmp_path / "results.db") as store, pytest.raises(UserError, match="No Dask scheduler answers"):
        run_trials([], {}, store, scheduler=address)

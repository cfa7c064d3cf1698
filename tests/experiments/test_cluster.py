"""Dask: the same numbers, a killed worker notwithstanding, and sentences where there is no cluster."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import replace

import pytest

from mlspl import _cluster as cluster
from mlspl.datasets import load_dataset
from mlspl.errors import UserError
from mlspl.experiments import Store, plan_trials, run_trials
from tests.schedulers import running_scheduler

distributed = pytest.importorskip("distributed", reason="needs the extra dask")
CommClosedError = pytest.importorskip("distributed.comm").CommClosedError


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


NO_CLUSTER = """
from mlspl import _cluster

if __name__ == "__main__":
    _cluster._RECONNECT_SECONDS = 1
    try:
        with _cluster.open_cluster("local", 1):
            pass
    except _cluster.UserError as error:
        print(error)
"""


def test_a_machine_on_which_no_cluster_starts_is_a_sentence(tmp_path):
    """Where processes cannot reach each other: a network of its own without a loopback device."""
    alone = ["unshare", "--map-root-user", "--net"]
    if not shutil.which("unshare") or subprocess.run([*alone, "true"], capture_output=True).returncode:
        pytest.skip("needs network namespaces")
    (tmp_path / "script.py").write_text(NO_CLUSTER)
    command = [*alone, sys.executable, str(tmp_path / "script.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("No Dask cluster starts on this machine (")
    assert not done.stderr


def test_a_scheduler_killed_in_the_middle_is_a_sentence_and_the_run_goes_on(tmp_path, monkeypatch, capfd):
    """There were pages of traceback."""
    monkeypatch.setattr(cluster, "_RECONNECT_SECONDS", 2)
    full = load_dataset("digits-traits")
    data = {"digits": replace(full, X=full.X[:100], Y=full.Y[:100])}
    trials = plan_trials(data, ["ml-knn"], splits=40)
    with running_scheduler(tmp_path) as (scheduler, address), Store(tmp_path / "results.db") as store:
        with pytest.raises(UserError, match=r"dropped the work"):
            run_trials(trials, data, store, scheduler=address, on_result=lambda *_: scheduler.kill())
        stored, rest = store.finished(), []
        assert stored
        run_trials(trials, data, store, jobs=1, on_result=lambda trial, _: rest.append(trial.key))
        assert {trial.key for trial in trials} - stored == set(rest) == store.finished() - stored
    assert "Traceback" not in capfd.readouterr().err


def test_a_result_whose_only_worker_dies_before_it_is_fetched_is_a_sentence(tmp_path, monkeypatch):
    """Dask alone waits for ever: the task is finished, and nobody is left to do it again."""
    monkeypatch.setattr(cluster, "_SECONDS_WITHOUT_WORKERS", 2)
    with running_scheduler(tmp_path) as (scheduler, address), cluster.open_cluster(address, 1) as client:
        future = client.submit(abs, -1)
        distributed.wait(future)
        scheduler.worker.kill()
        scheduler.worker.wait()
        with pytest.raises(UserError, match="no worker"):
            list(cluster.fetch(client, [future]))


@pytest.mark.timeout(120)
def test_a_cluster_that_loses_its_only_worker_ends_with_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "_SECONDS_WITHOUT_WORKERS", 3)
    full = load_dataset("digits-traits")
    data = {"digits": replace(full, X=full.X[:100], Y=full.Y[:100])}
    trials = plan_trials(data, ["ml-knn"], splits=40)
    with running_scheduler(tmp_path) as (scheduler, address), Store(tmp_path / "results.db") as store:
        with pytest.raises(UserError, match="no worker"):
            run_trials(trials, data, store, scheduler=address, on_result=lambda *_: scheduler.worker.kill())
        assert store.finished()


def test_a_local_cluster_is_closed_to_others():
    """It listens on loopback only, shows no pages, and takes no connection without its certificate."""
    with cluster.open_cluster("local", 1) as client:
        address = client.scheduler.address
        assert address.startswith("tls://127.0.0.1:")
        pages = client.run_on_scheduler(
            lambda dask_scheduler: (dask_scheduler.http_server.address, dask_scheduler.http_server.port)
        )
        assert pages[0] == "127.0.0.1"
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{pages[1]}/status")
        with pytest.raises(CommClosedError):
            distributed.Client(address.replace("tls:", "tcp:"), timeout=2)

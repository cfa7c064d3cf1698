"""One fit on a Dask cluster: the same model, killed workers notwithstanding."""

import os
import signal
import time

import numpy as np
import pytest
from joblib import parallel_config

from mlspl import BSVMClassifier, MLSPLClassifier, MLSPLClassifierCV, _cluster
from mlspl._parallel import on_cluster, parallel_map
from mlspl.errors import UserError
from mlspl.models import _label_blocks
from tests.models.test_label_blocks import made
from tests.schedulers import running_scheduler

distributed = pytest.importorskip("distributed", reason="needs the extra dask")


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as local, distributed.Client(local):
        yield local


@pytest.fixture(scope="module")
def data():
    return made(200, 48)


@pytest.mark.parametrize(
    "model", [BSVMClassifier(space="linear"), MLSPLClassifier(space="linear", random_state=0)], ids=str
)
def test_a_fit_spreads_over_a_cluster(model, data, cluster):
    X, Y = data
    here = model.fit(X, Y).decision_function(X)
    with parallel_config("dask"):
        there = model.fit(X, Y).decision_function(X)
    np.testing.assert_array_equal(there, here)


def test_folds_and_settings_of_a_search_spread_over_a_cluster(data, cluster):
    X, Y = data[0][:90], data[1][:90, :6]
    model = MLSPLClassifierCV(families=("kernel",), budget="fast", C=(1.0,), quantiles=(0.7,), random_state=0)
    here = model.fit(X, Y)
    scores, members, trace = here.decision_function(X), here.members_, here.trace_
    with parallel_config("dask"):
        there = model.fit(X, Y)
    np.testing.assert_array_equal(there.decision_function(X), scores)
    assert there.members_ == members
    np.testing.assert_array_equal(there.trace_.mean_loss, trace.mean_loss)


def test_killed_workers_cost_time_and_not_the_result(data, cluster, monkeypatch):
    """Even all of them, with all data: joblib's own way of scattering waits for ever then."""
    X, Y = data
    model = MLSPLClassifier(space="linear", random_state=0)
    here = model.fit(X, Y).decision_function(X)
    victims = []

    def killing(*work):
        for result in parallel_map(*work):
            if not victims:
                victims.extend(nanny.pid for nanny in cluster.workers.values())
                for pid in victims:
                    os.kill(pid, signal.SIGKILL)
            yield result

    monkeypatch.setattr(_label_blocks, "parallel_map", killing)
    with parallel_config("dask"):
        there = model.fit(X, Y).decision_function(X)
    assert len(victims) == 2
    assert not set(victims) & {nanny.pid for nanny in cluster.workers.values()}
    np.testing.assert_array_equal(there, here)


def test_a_scheduler_killed_in_the_middle_of_a_fit_is_a_sentence(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(_cluster, "_RECONNECT_SECONDS", 2)
    with (
        running_scheduler(tmp_path) as (scheduler, address),
        _cluster.open_cluster(address, 1) as client,
        on_cluster(client),
    ):
        results = parallel_map(time.sleep, (), [0.1] * 50)
        next(results)
        scheduler.kill()
        with pytest.raises(UserError, match=r"dropped the work"):
            list(results)
    assert "Traceback" not in capfd.readouterr().err


def test_a_fit_whose_only_worker_dies_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(_cluster, "_SECONDS_WITHOUT_WORKERS", 2)
    with (
        running_scheduler(tmp_path) as (scheduler, address),
        _cluster.open_cluster(address, 1) as client,
        on_cluster(client),
    ):
        results = parallel_map(time.sleep, (), [0.1] * 50)
        next(results)
        scheduler.worker.kill()
        with pytest.raises(UserError, match="no worker"):
            list(results)

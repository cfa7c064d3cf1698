"""What cannot fit in memory is refused before it is allocated, with a remedy."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mlspl import (
    BSVMClassifier,
    MLLOCClassifier,
    MLSPLClassifier,
    MLSPLClassifierCV,
    RankSVMClassifier,
    SelfPacedForestClassifier,
    TunedDecisionClassifier,
)
from mlspl import _limits as limits
from mlspl._limits import available_memory
from mlspl.errors import UserError
from tests.watched import little_memory

KERNEL_METHODS = [
    BSVMClassifier(),
    RankSVMClassifier(),
    MLLOCClassifier(),
    MLSPLClassifier(),
    MLSPLClassifierCV(),
    TunedDecisionClassifier(BSVMClassifier()),
]
named = {"ids": lambda estimator: type(estimator).__name__}


def made(n, d=5, n_labels=4):
    random = np.random.RandomState(0)
    return random.randn(n, d), random.randint(0, 2, (n, n_labels))


@pytest.mark.parametrize("estimator", KERNEL_METHODS, **named)
def test_kernel_matrices_are_refused_before_they_are_allocated(estimator, monkeypatch):
    X, Y = made(3000)
    monkeypatch.setenv("MLSPL_MEMORY", "2e7")
    with little_memory(6e7), pytest.raises(UserError, match=r"MB of memory.*MLSPL_MEMORY") as refusal:
        estimator.fit(X, Y)
    assert "nystroem" in str(refusal.value)


@pytest.mark.parametrize("memory", ["1.2e7", "6e6"])
def test_landmarks_fit_where_a_kernel_matrix_is_refused(memory, monkeypatch):
    X, Y = made(1500)
    monkeypatch.setenv("MLSPL_MEMORY", memory)
    with pytest.raises(UserError, match="nystroem"):
        BSVMClassifier(space="gram").fit(X, Y)
    assert "landmarks" in BSVMClassifier(space="nystroem", random_state=0).fit(X, Y).space_


@pytest.mark.parametrize(
    ("estimator", "memory", "remedy"),
    [
        (BSVMClassifier(space="nystroem", n_landmarks=300), "7e5", "n_landmarks"),
        (BSVMClassifier(space="linear"), "2e5", "fewer"),
        (SelfPacedForestClassifier(1000), "7e5", "n_estimators"),
    ],
)
def test_other_arrays_are_refused_with_their_remedy(estimator, memory, remedy, monkeypatch):
    X, Y = made(3000)
    monkeypatch.setenv("MLSPL_MEMORY", memory)
    with pytest.raises(UserError, match=remedy):
        estimator.fit(X, Y)


def test_memory_is_what_one_is_told_or_what_the_system_tells(monkeypatch):
    monkeypatch.setenv("MLSPL_MEMORY", "2.5e9")
    assert available_memory() == 2.5e9
    monkeypatch.setenv("MLSPL_MEMORY", "plenty")
    with pytest.raises(UserError, match="MLSPL_MEMORY is 'plenty'"):
        available_memory()
    monkeypatch.delenv("MLSPL_MEMORY")
    if sys.platform == "linux":
        kilobytes = int(re.search(r"MemTotal: *(\d+)", Path("/proc/meminfo").read_text())[1])
        assert 0 < available_memory() <= 1024 * kilobytes


def test_a_container_and_those_around_it_have_limits(tmp_path):
    (tmp_path / "outer" / "inner").mkdir(parents=True)
    (tmp_path / "memory").mkdir()
    (tmp_path / "outer" / "inner" / "memory.max").write_text("max\n")
    (tmp_path / "outer" / "memory.max").write_text("4000000000\n")
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text("5000000000\n")
    (tmp_path / "own").write_text("0::/outer/inner\n")
    assert limits._container_limits(tmp_path, tmp_path / "own") == [4e9, 5e9]
    assert limits._container_limits(tmp_path, tmp_path / "nowhere") == []


def test_the_limit_of_the_shell_counts():
    pytest.importorskip("resource")
    script = "import resource as r; r.setrlimit(r.RLIMIT_AS, (10**10, 10**10)); "
    script += "from mlspl._limits import available_memory; print(available_memory())"
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    environment.pop("MLSPL_MEMORY", None)
    out = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, env=environment
    ).stdout
    assert float(out) <= 1e10

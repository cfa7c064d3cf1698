"""Limits: told before the fit, in figures that hold."""

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from mlspl import (
    BSVMClassifier,
    MLkNNClassifier,
    MLLOCClassifier,
    MLSPLClassifier,
    MLSPLClassifierCV,
    RankSVMClassifier,
    SelfPacedClassifier,
    TRAMClassifier,
    TunedDecisionClassifier,
)
from mlspl import _limits as limits
from mlspl._limits import FitSize, LargeFitWarning, machine_memory
from mlspl.errors import UserError
from tests.watched import little_memory

KERNEL_METHODS = [
    BSVMClassifier(space="gram"),
    RankSVMClassifier(),
    MLLOCClassifier(space="gram"),
    MLSPLClassifier(space="gram"),
    MLSPLClassifierCV(space="gram"),
    TunedDecisionClassifier(BSVMClassifier(space="gram")),
]
OTHERS = [MLkNNClassifier(), TRAMClassifier(), SelfPacedClassifier(LogisticRegression())]
named = {"ids": lambda estimator: type(estimator).__name__}
SENTENCE = re.compile(
    r"Fitting \w+ on [\d,]+ rows and 4 labels takes about [\d.]+ (M|G)B of memory"
    r"( and some (seconds|minutes|hours|days|years))?; there are [\d.]+ (M|G)B\. (.*)"
)


def made(n, d=5, n_labels=4):
    random = np.random.RandomState(0)
    return random.randn(n, d), random.randint(0, 2, (n, n_labels))


@pytest.mark.parametrize("estimator", KERNEL_METHODS + OTHERS, **named)
def test_too_much_is_refused_before_anything_is_allocated(estimator, monkeypatch):
    X, Y = made(3000)
    monkeypatch.setenv("MLSPL_MEMORY", "4e5")
    with little_memory(1e6), pytest.raises(UserError) as refusal:
        estimator.fit(X, Y)
    match = SENTENCE.match(str(refusal.value))
    assert match
    assert "set MLSPL_MEMORY" in match[5]
    assert ("MLkNNClassifier and TRAMClassifier" in match[5]) == (estimator in KERNEL_METHODS)


@pytest.mark.parametrize("estimator", KERNEL_METHODS + OTHERS, **named)
def test_between_half_and_all_there_is_a_warning_and_less_is_silent(estimator):
    size = FitSize.of(*made(3000))
    need = estimator._cost(size).bytes
    with pytest.warns(LargeFitWarning, match=SENTENCE):
        limits.check_limits("Any", estimator._cost, size, memory=1.5 * need)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        limits.check_limits("Any", estimator._cost, size, memory=2.5 * need)


def test_the_warning_comes_from_the_fit_which_then_goes_on(monkeypatch):
    X, Y = made(300)
    monkeypatch.setenv("MLSPL_MEMORY", str(8 * 300**2 * 1.5))
    with pytest.warns(LargeFitWarning, match="Fitting BSVMClassifier on 300 rows") as told:
        model = BSVMClassifier().fit(X, Y)
    assert model.predict(X).shape == (300, 4)
    assert told[0].filename == __file__


def test_as_many_rows_as_advised_fit_and_not_many_more():
    cost, size, memory = MLSPLClassifier()._cost, FitSize.of(*made(3000)), 50e6
    with pytest.raises(UserError) as refusal:
        limits.check_limits("MLSPLClassifier", cost, size, memory)
    advised = int(re.search(r"About ([\d,]+) rows", str(refusal.value))[1].replace(",", ""))
    assert cost(size.with_rows(advised)).bytes <= memory / 2 < cost(size.with_rows(advised + 2)).bytes


@pytest.mark.parametrize(("memory", "families"), [(25e9, ("kernel", "forest")), (10e9, ("kernel",))])
def test_many_labels_are_advised_to_a_smaller_search(memory, families):
    """As many rows and labels as delicious has."""
    model, size = MLSPLClassifierCV(), FitSize(16_105, 500, 983, 300_000, 16_105 * 19 * 964)
    words = "budget='fast'" + ("" if "forest" in families else f" and families={families!r}")
    catch = pytest.warns(LargeFitWarning) if memory > model._cost(size).bytes else pytest.raises(UserError)
    with catch as caught:
        limits.check_limits("MLSPLClassifierCV", model._cost, size, memory, model._smaller_settings())
    told = str(caught[0].message if memory > model._cost(size).bytes else caught.value)
    assert f"With {words} it takes about" in told
    assert MLSPLClassifierCV(budget="fast", families=families)._cost(size).bytes <= memory / 2


@pytest.mark.parametrize("space", ["auto", "linear", "nystroem"])
@pytest.mark.parametrize("kind", [BSVMClassifier, MLLOCClassifier, MLSPLClassifier, MLSPLClassifierCV])
def test_memory_grows_with_the_rows_where_no_kernel_matrix_is(kind, space):
    size = FitSize.of(*made(1000)).with_rows(50_000)
    estimator = kind(space=space)
    small, large = estimator._cost(size), estimator._cost(size.with_rows(100_000))
    assert large.bytes / small.bytes < 2.1
    assert large.seconds / small.seconds < 2.1


@pytest.mark.parametrize("estimator", KERNEL_METHODS, **named)
def test_memory_grows_with_the_square_of_the_rows_and_time_faster(estimator):
    size = FitSize.of(*made(1000)).with_rows(50_000)
    small, large = estimator._cost(size), estimator._cost(size.with_rows(100_000))
    assert 3.5 < large.bytes / small.bytes < 4.1
    assert small.bytes >= 8 * 50_000**2
    assert 4 < large.seconds / small.seconds < 8


def test_sizes_of_any_layout():
    X, Y = made(6)
    expected = FitSize(6, 5, 4, 30, int(sum(row.sum() * (4 - row.sum()) for row in Y)))
    assert FitSize.of(X, Y) == FitSize.of(X, np.where(Y, 1, -1)) == FitSize.of(X, Y.astype(bool)) == expected
    assert FitSize.of(X, sparse.csr_matrix(Y)) == expected
    assert FitSize.of(sparse.csr_matrix(np.eye(6)), Y).values == 6
    assert FitSize.of(X, Y[:, 0]).labels == 1


def test_memory_is_what_one_is_told_or_what_the_system_tells(monkeypatch):
    monkeypatch.setenv("MLSPL_MEMORY", "2.5e9")
    assert machine_memory() == 2.5e9
    monkeypatch.setenv("MLSPL_MEMORY", "plenty")
    with pytest.raises(UserError, match="MLSPL_MEMORY is 'plenty'; give a number of bytes"):
        machine_memory()
    monkeypatch.delenv("MLSPL_MEMORY")
    if sys.platform == "linux":
        kilobytes = int(re.search(r"MemTotal: *(\d+)", Path("/proc/meminfo").read_text())[1])
        assert 0 < machine_memory() <= 1024 * kilobytes


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
    script += "from mlspl._limits import machine_memory; print(machine_memory())"
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    environment.pop("MLSPL_MEMORY", None)
    out = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, env=environment
    ).stdout
    assert float(out) <= 1e10


def test_the_estimate_is_what_a_fit_takes():
    """`benchmarks/bench_memory.py` does this for every estimator and several sizes."""
    benchmark = Path(__file__).parents[2] / "benchmarks" / "bench_memory.py"
    if not (benchmark.exists() and os.access("/proc/self/clear_refs", os.W_OK)):
        pytest.skip("needs Linux and the benchmarks")
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", str(benchmark), "mlspl", "2000", "20", "6", "dense"]
    out = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    estimate, peak, *_ = map(float, out.split())
    assert 1 / 1.5 < estimate / peak < 1.5

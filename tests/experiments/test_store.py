"""The store: what goes in comes out, from several processes at once."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlspl.experiments.store import Store
from mlspl.experiments.trial import Outcome
from tests.experiments.trials import trial


@pytest.mark.parametrize(
    "changes",
    [
        {"fingerprint": "g"},
        {"method": "n"},
        {"parameters": {"k": 2}},
        {"parameters": {"k": 1, "s": 1}},
        {"split": 1},
        {"train": 0.5},
        {"corruption": "flip:0.2"},
        {"tune": "one_error"},
        {"version": "9"},
    ],
)
def test_everything_that_decides_the_scores_decides_the_key(changes):
    assert trial(**changes).key != trial().key


def test_the_name_of_the_data_does_not_decide_the_key():
    assert trial(dataset="other").key == trial().key


def test_the_order_of_parameters_does_not_decide_the_key():
    assert trial(parameters={"k": 1, "s": 2}).key == trial(parameters={"s": 2, "k": 1}).key


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=30, deadline=None)
@given(
    scores=st.dictionaries(st.text(min_size=1), st.floats(allow_nan=False, allow_infinity=False)),
    chosen=st.dictionaries(st.text(), json_values, max_size=3),
    history=st.none() | st.lists(st.dictionaries(st.text(), json_values, max_size=3), max_size=2),
    warned=st.lists(st.text()),
)
def test_an_outcome_comes_back_bit_by_bit(tmp_path_factory, scores, chosen, history, warned):
    path = tmp_path_factory.mktemp("store") / "results.db"
    outcome = Outcome(
        scores=scores, chosen=chosen, history=history, warnings=warned, fit_seconds=0.1, peak_memory=7
    )
    with Store(path) as store:
        store.record(trial(), outcome)
    with Store(path) as store:
        row = store.frame().iloc[0]
    assert row["scores"] == scores
    assert row["chosen"] == chosen
    assert row["history"] == history
    assert row["warnings"] == warned
    assert (row["fit_seconds"], row["peak_memory"], row["key"]) == (0.1, 7, trial().key)


def test_numpy_values_become_plain_and_undefined_scores_null(tmp_path):
    with Store(tmp_path / "results.db") as store:
        history = [{"share": np.array([0.5, np.nan]), "step": np.int64(3)}]
        store.record(
            trial(), Outcome(scores={"ndcg": float("nan"), "one_error": np.float64(0.25)}, history=history)
        )
        row = store.frame().iloc[0]
    assert row["scores"] == {"ndcg": None, "one_error": 0.25}
    assert row["history"] == [{"share": [0.5, None], "step": 3}]


def test_a_finished_trial_is_never_replaced_and_a_failed_one_is(tmp_path):
    with Store(tmp_path / "results.db") as store:
        store.record(trial(), Outcome(error="ValueError: no"))
        assert store.finished() == set()
        assert store.failed() == {trial().key: "ValueError: no"}
        store.record(trial(), Outcome(error="ValueError: still not"))
        assert store.failed() == {trial().key: "ValueError: still not"}
        store.record(trial(), Outcome(scores={"one_error": 0.5}))
        store.record(trial(), Outcome(scores={"one_error": 0.9}))
        store.record(trial(), Outcome(error="late failure"))
        assert store.failed() == {}
        assert store.is_finished(trial().key)
        assert store.frame()["scores"].tolist() == [{"one_error": 0.5}]


def test_trials_with_and_without_history_or_error_live_together(tmp_path):
    with Store(tmp_path / "results.db") as store:
        assert len(store.frame()) == 0
        store.record(trial(0), Outcome(scores={"one_error": 0.5}))
        store.record(trial(1), Outcome(scores={"one_error": 0.5}, history=[{"pace": 1.0}]))
        store.record(trial(2), Outcome(error="no"))
        frame = store.frame()
    assert frame["history"].tolist() == [None, [{"pace": 1.0}], None]
    assert frame["error"].tolist() == [None, None, "no"]


def test_frame_keeps_the_order_of_the_keys(tmp_path):
    with Store(tmp_path / "results.db") as store:
        for split in range(4):
            store.record(trial(split), Outcome(scores={"one_error": split / 10}))
        keys = [trial(split).key for split in (2, 0, 7, 3)]
        assert store.frame(keys)["split"].tolist() == [2, 0, 3]


def run_script(script, *arguments):
    code = (
        "import os, signal, sys, time\nfrom mlspl.experiments import Outcome, Store, Trial\n"
        + textwrap.dedent(script)
    )
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True
    ).stdout


def test_processes_create_and_write_one_store_at_once(tmp_path):
    path = tmp_path / "results.db"
    script = """
        children = []
        for start in (0, 30, 60):
            children.append(os.fork())
            if children[-1] == 0:
                with Store(sys.argv[1]) as store:
                    for split in range(start, start + 60):
                        store.record(Trial("d", "f", "m", {}, split), Outcome(scores={"pid": os.getpid()}))
                os._exit(0)
        print([os.waitpid(child, 0)[1] for child in children])
        for i in range(40):
            children = [os.fork() for _ in range(2)]
            with Store(f"{sys.argv[1]}.{i}"):
                pass
            if 0 in children:
                os._exit(0)
            assert [os.waitpid(child, 0)[1] for child in children] == [0, 0], "a file created by four at once"
    """
    assert run_script(script, str(path)) == "[0, 0, 0]\n"
    with Store(path) as store:
        assert sorted(store.frame()["split"]) == list(range(120))


def test_a_writer_killed_at_any_moment_leaves_whole_trials(tmp_path):
    """SIGKILL from the creation of the file on; every transaction is there or not, and none is torn."""
    path = tmp_path / "results.db"
    script = """
        acknowledged = 0
        for pause in (0, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2):
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                with Store(sys.argv[1]) as store:
                    for split in range(len(store.finished()), 100_000):
                        outcome = Outcome(scores={"a": split / 7}, history=[{"x": "y" * 20_000}])
                        store.record(Trial("d", "f", "m", {}, split), outcome)
                        os.write(writer, b".")
            os.close(writer)
            time.sleep(pause)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            acknowledged += len(os.read(reader, 1_000_000))
            with Store(sys.argv[1]) as store:
                frame = store.frame()
            assert frame["split"].tolist() == list(range(len(frame)))
            assert len(frame) >= acknowledged, "a trial that was recorded is lost"
            assert [scores["a"] for scores in frame["scores"]] == [split / 7 for split in range(len(frame))]
        print(acknowledged)
    """
    assert int(run_script(script, str(path))) > 0


def test_a_store_opened_twice_keeps_its_locks(tmp_path):
    """POSIX drops all locks of a process on a file with the first descriptor of it that is closed. Without
    them another process, on leaving, would take the log away that this one goes on writing to."""
    path = tmp_path / "results.db"
    look = """if True:
        import sqlite3, sys
        database = sqlite3.connect(sys.argv[1])
        print(*database.execute("SELECT count(*) FROM trial").fetchone())
        database.close()
    """

    def elsewhere():
        return subprocess.run([sys.executable, "-c", look, path], check=True, capture_output=True).stdout

    with Store(path) as first, Store(path) as second:
        first.record(trial(0), Outcome(scores={"one_error": 0.5}))
        assert elsewhere() == b"1\n"
        second.record(trial(1), Outcome(scores={"one_error": 0.5}))
        assert elsewhere() == b"2\n"

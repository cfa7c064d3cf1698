import threading

import pytest

from mlspl.solvers.threads import run_threads


@pytest.mark.parametrize("n_threads", [1, 2, 8])
def test_every_call_is_made_once(n_threads):
    seen = []
    run_threads(lambda a, b: seen.append((a, b)), [(i, -i) for i in range(20)], n_threads)
    assert sorted(seen) == [(i, -i) for i in range(20)]


def test_calls_run_at_the_same_time():
    both = threading.Barrier(2, timeout=10)
    run_threads(lambda _: both.wait(), [(0,), (1,)], n_threads=2)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_interrupt_drops_what_has_not_begun_and_leaves_no_thread(stop, n_threads):
    begun = []

    def work(i):
        begun.append(i)
        if i == 0:
            raise stop
        threading.Event().wait(0.01)

    threads = threading.active_count()
    with pytest.raises(stop):
        run_threads(work, [(i,) for i in range(500)], n_threads)
    assert len(begun) < 500
    assert threading.active_count() == threads

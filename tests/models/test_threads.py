"""Fits side by side in one process: right, and without a trace."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from mlspl import MLLOCClassifier, MLSPLClassifier
from mlspl.solvers import one_library_thread
from tests.machines import made_data


def test_concurrent_fits_agree_and_leave_the_threads_of_blas_alone():
    """k-means of scikit-learn sets and restores a limit for the whole process; fits that overlap lost it."""
    X, Y, X_new = made_data()
    models = [MLLOCClassifier(n_codes=8, random_state=0), MLSPLClassifier(n_codes=8, random_state=0)] * 5
    with threadpool_limits(2):
        before = [library["num_threads"] for library in threadpool_info()]
        with ThreadPoolExecutor(4) as pool:
            scores = list(pool.map(lambda model: model.fit(X, Y).decision_function(X_new), models))
        assert [library["num_threads"] for library in threadpool_info()] == before
    for kind in range(2):
        for others in scores[kind::2]:
            np.testing.assert_array_equal(others, scores[kind])


def test_a_limit_that_overlaps_others_ends_with_the_last():
    def threads():
        return {library["num_threads"] for library in threadpool_info()}

    with threadpool_limits(2):
        first, second = one_library_thread(), one_library_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert threads() == {1}
        second.__exit__(None, None, None)
        assert threads() == {2}

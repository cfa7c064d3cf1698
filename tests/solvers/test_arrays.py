import numpy as np

from mlspl.solvers import code_program, kernel_svr, solve_codes, solve_svrs


def test_read_only_inputs_need_no_compilation_of_their_own():
    """As joblib shares large arrays between processes: mapped from a file, and not writeable."""
    K, targets, ones = np.eye(4), np.ones((2, 4)), np.ones((4, 2))
    for writeable in (True, False):
        for array in (K, targets, ones):
            array.flags.writeable = writeable
        solve_svrs(K, targets, targets)
        solve_codes(ones, ones, ones[:2], ones, ones, 1.0)
    assert len(kernel_svr._solve_svr.signatures) == 1
    assert len(code_program._settle_rows.signatures) == 1

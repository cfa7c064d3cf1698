"""The same support vector machines by LIBSVM: slower, and there for tests and for the doubtful."""

from collections.abc import Callable

import numpy as np
from sklearn.svm import SVC

from mlspl.solvers.kernel_svm import SVMSolution, solve_svms

__all__ = ["get_svm_solver", "solve_svms_libsvm"]


def solve_svms_libsvm(
    K: np.ndarray,
    Y: np.ndarray,
    C: float | np.ndarray = 1.0,
    *,
    alpha: np.ndarray | None = None,
    tol: float = 1e-3,
    max_iter: int = -1,
    n_threads: int | None = None,
) -> SVMSolution:
    """:func:`solve_svms` by ``sklearn.svm.SVC(kernel="precomputed")``, one label after the other.

    Parameters and result are those of :func:`solve_svms`. LIBSVM starts from nothing on one
    thread: `alpha` and `n_threads` are not used. It leaves
    pairs of cost 0 out of its sight, and is not asked when one class is all that remains.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([-2.0, -1.0, 1.0, 2.0])
    >>> solution = solve_svms_libsvm(np.outer(x, x), np.array([[-1, -1, 1, 1]]), C=10.0)
    >>> np.round(solution.alpha, 6) + 0.0
    array([[0. , 0.5, 0.5, 0. ]])
    """
    K, Y = np.asarray(K, dtype=np.float64), np.asarray(Y, dtype=np.float64)
    costs = np.broadcast_to(np.asarray(C, dtype=np.float64), Y.shape)
    alphas, biases, n_iter = np.zeros(Y.shape), np.zeros(len(Y)), np.zeros(len(Y), dtype=np.int64)
    for label, (y, cost) in enumerate(zip(Y, costs, strict=True)):
        rows = np.flatnonzero(cost > 0)
        classes = np.unique(y[rows])
        if len(classes) < 2:
            biases[label] = classes.sum()
            continue
        svc = SVC(C=1.0, kernel="precomputed", tol=tol, max_iter=max_iter)
        svc.fit(K[np.ix_(rows, rows)], y[rows], sample_weight=cost[rows])
        alphas[label, rows[svc.support_]] = np.abs(svc.dual_coef_[0])
        biases[label] = svc.intercept_[0]
        n_iter[label] = svc.n_iter_[0]
    return _described(K, Y, costs, alphas, biases, n_iter)


def get_svm_solver(name: str) -> Callable[..., SVMSolution]:
    """The solver called "auto" (ours) or "libsvm".

    Examples
    --------
    >>> get_svm_solver("auto").__name__
    'solve_svms'
    """
    solvers = {"auto": solve_svms, "libsvm": solve_svms_libsvm}
    if name not in solvers:
        raise ValueError(f"There is no SVM solver called {name!r}; choose from {', '.join(solvers)}.")
    return solvers[name]


def _described(K, Y, costs, alpha, bias, n_iter) -> SVMSolution:
    """The solution with everything that follows from multipliers and biases."""
    beta = alpha * Y
    fitted = beta @ K
    decision = fitted + bias[:, None]
    squared_norm = np.sum(beta * fitted, axis=1)
    loss = np.sum(costs * np.maximum(0.0, 1.0 - Y * decision), axis=1)
    bounded = (alpha >= costs) & (costs > 0)
    # β may grow below its upper bound and fall above its lower one; β = ±α, bounds 0 and ±C.
    may_grow = np.where(Y > 0, ~bounded, alpha > 0) & (costs > 0)
    may_fall = np.where(Y > 0, alpha > 0, ~bounded) & (costs > 0)
    highest = np.max(Y - fitted, axis=1, where=may_grow, initial=-np.inf)
    lowest = np.min(Y - fitted, axis=1, where=may_fall, initial=np.inf)
    return SVMSolution(
        alpha=alpha,
        bias=bias,
        bounded=bounded,
        decision=decision,
        objective=squared_norm / 2 + loss,
        gap=squared_norm + loss - alpha.sum(axis=1),
        violation=np.maximum(highest - lowest, 0.0),
        n_iter=n_iter,
    )

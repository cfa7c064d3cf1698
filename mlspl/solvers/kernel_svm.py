"""Many weighted support vector machines on one shared kernel matrix."""

from dataclasses import dataclass

import numpy as np
from numba import config

from mlspl.solvers.arrays import read_only
from mlspl.solvers.smo import solve_label, solve_labels
from mlspl.solvers.threads import run_threads

__all__ = ["SVMSolution", "solve_svms"]

_FEW_ROWS = 256
_GROUP = 16
_NOT_FINITE = "K holds NaN or infinite values; clean the features or the kernel that made it."


@dataclass(frozen=True)
class SVMSolution:
    """What `solve_svms` found, one row per label.

    The score of a new instance for label l is ``K_new @ (alpha[l] * Y[l]) + bias[l]``.

    Attributes
    ----------
    alpha : array (L, n)
        Dual variables, 0 ≤ alpha ≤ C.
    bias : array (L,)
        Intercepts.
    bounded : bool array (L, n)
        Where alpha has reached its cost C > 0: instances inside the margin or on its wrong side.
    decision : array (L, n)
        Scores of the training instances, bias included; they come free with the solution.
    objective : array (L,)
        ½‖w‖² + Σ_i C_i max(0, 1 − y_i f(x_i)), the primal objective.
    gap : array (L,)
        Primal minus dual objective. For a positive semi-definite kernel the objective is at most this
        far above its minimum.
    violation : array (L,)
        Largest violation of the optimality conditions as LIBSVM measures it; below `tol` unless the
        steps ran out.
    n_iter : int array (L,)
        Pairs of variables moved.
    """

    alpha: np.ndarray
    bias: np.ndarray
    bounded: np.ndarray
    decision: np.ndarray
    objective: np.ndarray
    gap: np.ndarray
    violation: np.ndarray
    n_iter: np.ndarray

    @property
    def warm_start(self) -> np.ndarray:
        """A start for the same labels at other costs: `alpha`, but infinite where `bounded`.

        Pairs at their old cost then begin at their new one, which is where most of them will end.
        """
        return np.where(self.bounded, np.inf, self.alpha)


def solve_svms(
    K: np.ndarray,
    Y: np.ndarray,
    C: float | np.ndarray = 1.0,
    *,
    alpha: np.ndarray | None = None,
    tol: float = 1e-3,
    max_iter: int = 10_000_000,
    n_threads: int | None = None,
) -> SVMSolution:
    """Fit one soft-margin SVM per label, with a cost for every pair of label and instance.

    For each label, min over w and b of ½‖w‖² + Σ_i C_i max(0, 1 − y_i(⟨w, φ(x_i)⟩ + b)): LIBSVM's problem and
    optimum (:func:`solve_svms_libsvm` asks LIBSVM itself).

    Parameters
    ----------
    K : array (n, n)
        Symmetric kernel matrix, used as it is when it is C-contiguous float64 and converted otherwise. An
        indefinite one is safe: the search descends to a point that meets the optimality conditions.
    Y : array (L, n)
        The labels, +1 or −1, one row per label.
    C : float or array broadcastable to (L, n)
        Cost of a unit of hinge loss. A pair of cost 0 is out of the problem and has alpha 0.
    alpha : array (L, n), optional
        Where to start, for instance the ``warm_start`` of a solution with other costs or another kernel.
        It is clipped to the costs and shifted to Σ alpha·y = 0.
    tol : float
        Stop when no pair of instances violates the optimality conditions by more (LIBSVM's criterion).
    max_iter : int
        Most pair steps per label.
    n_threads : int, optional
        Labels solved at the same time; by default as many as numba may use. The answer does not depend on it.
        Up to 256 rows the labels are solved one after the other.

    Returns
    -------
    SVMSolution

    Notes
    -----
    The bias is not regularised. A label whose instances of positive cost are all of one class has the
    constant score of that class, +1 or −1; if every cost is 0, the score is 0. alpha is 0 in both cases.

    Time grows with the number of steps, about 1 to 4 a support vector for C ≤ 1 on an RBF kernel. A kernel of
    low rank, such as a linear one on few features, takes very many at a large cost; so it does in LIBSVM.

    ML-LOC's kernel K + QQᵀ is best formed before the call. Adding the codes' part of m = 15 columns wherever
    a row of K is read made the solver twice as slow, where forming takes as long as two or three labels.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([-2.0, -1.0, 1.0, 2.0])
    >>> Y = np.array([[-1, -1, 1, 1], [1, 1, 1, 1]])
    >>> solution = solve_svms(np.outer(x, x), Y, C=10.0)
    >>> np.round(solution.decision, 6) + 0.0
    array([[-2., -1.,  1.,  2.],
           [ 1.,  1.,  1.,  1.]])
    >>> solution.bias
    array([0., 1.])
    """
    K, Y, costs = _problem(K, Y, C)
    if not tol > 0:
        raise ValueError(f"tol is {tol}; give a positive number.")
    if n_threads is None:
        n_threads = config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    if n_threads < 1:
        raise ValueError(f"n_threads is {n_threads}; give at least 1.")
    n_positive, n_negative = ((costs > 0) & (Y > 0)).sum(axis=1), ((costs > 0) & (Y < 0)).sum(axis=1)
    start = np.zeros(Y.shape) if alpha is None else _clipped(alpha, costs)
    start[(n_positive == 0) | (n_negative == 0)] = 0.0
    alpha, decision, summary = np.empty(Y.shape), np.empty(Y.shape), np.empty((len(Y), 5))
    stop = np.zeros(1, dtype=np.bool_)
    given = (K, K.diagonal().copy(), Y, costs, start, float(tol), int(max_iter), stop)
    # Hard labels first, so that no thread is left with one when the others have finished.
    labels = np.argsort(-np.minimum(n_positive, n_negative), kind="stable")
    if Y.shape[1] <= _FEW_ROWS:
        # To start threads takes longer than most problems this small. Those that do not converge keep Ctrl-C
        # waiting until the end of their group, some seconds a label at the default max_iter.
        for first in range(0, len(labels), _GROUP):
            solve_labels(labels[first : first + _GROUP], *given, alpha, decision, summary)
    else:
        run_threads(
            solve_label, [(label, *given, alpha, decision, summary) for label in labels], n_threads, stop
        )
    if not np.isfinite(decision).all():
        raise ValueError(_NOT_FINITE)
    return SVMSolution(
        alpha=alpha,
        bias=summary[:, 0].copy(),
        bounded=(alpha >= (1.0 - 1e-9) * costs) & (costs > 0),
        decision=decision,
        objective=summary[:, 1].copy(),
        gap=summary[:, 2].copy(),
        violation=summary[:, 3].copy(),
        n_iter=summary[:, 4].astype(np.int64),
    )


def _problem(K, Y, C) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Kernel, labels and costs, of the right shapes and values, as compiled code takes them."""
    K, Y = read_only(K), read_only(Y)
    if Y.ndim != 2 or K.shape != (Y.shape[1], Y.shape[1]):
        raise ValueError(
            f"K has shape {K.shape} and Y {Y.shape}; give K as (n, n) and Y as (L, n), a row per label."
        )
    if not np.all(np.abs(Y) == 1):
        raise ValueError("Y must hold nothing but +1 and −1.")
    # The rest of K is checked by its use: what is not finite there shows in the scores.
    if not np.isfinite(K.diagonal()).all():
        raise ValueError(_NOT_FINITE)
    costs = read_only(np.broadcast_to(np.asarray(C, dtype=np.float64), Y.shape))
    if not (np.isfinite(costs).all() and (costs >= 0).all()):
        raise ValueError("C must be finite and not negative; 0 takes a pair out of the problem.")
    return K, Y, costs


def _clipped(alpha, costs) -> np.ndarray:
    alpha = np.asarray(alpha, dtype=np.float64)
    if alpha.shape != costs.shape or np.isnan(alpha).any():
        raise ValueError(f"alpha has shape {alpha.shape}, or NaN in it; give numbers of shape {costs.shape}.")
    return np.clip(alpha, 0.0, costs)

"""Compiled solvers, arrays in and arrays out; they know nothing of data sets or estimators."""

from mlspl.solvers.code_program import CodeSolution, solve_codes
from mlspl.solvers.extra_trees import grow_extra_trees
from mlspl.solvers.kernel_svm import SVMSolution, solve_svms
from mlspl.solvers.kernel_svr import SVRSolution, solve_svrs
from mlspl.solvers.linear_machines import LINEAR_LOSSES, LinearSolution, solve_linear
from mlspl.solvers.linear_ridge import solve_ridge
from mlspl.solvers.rank_pairs import LabelPairs, label_pairs
from mlspl.solvers.rank_svm import RankSVMSolution, solve_rank_svm
from mlspl.solvers.reference import get_svm_solver, solve_svms_libsvm
from mlspl.solvers.threads import one_library_thread
from mlspl.solvers.trees import FlatTrees

__all__ = [
    "LINEAR_LOSSES",
    "CodeSolution",
    "FlatTrees",
    "LabelPairs",
    "LinearSolution",
    "RankSVMSolution",
    "SVMSolution",
    "SVRSolution",
    "get_svm_solver",
    "grow_extra_trees",
    "label_pairs",
    "one_library_thread",
    "solve_codes",
    "solve_linear",
    "solve_rank_svm",
    "solve_ridge",
    "solve_svms",
    "solve_svms_libsvm",
    "solve_svrs",
]

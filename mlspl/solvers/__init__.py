"""Compiled solvers, arrays in and arrays out; they know nothing of data sets or estimators."""

from mlspl.solvers.code_program import solve_codes
from mlspl.solvers.extra_trees import TreeFeatures, grow_extra_trees
from mlspl.solvers.kernel_svm import solve_svms, solve_svrs
from mlspl.solvers.linear import solve_linear, solve_ridge
from mlspl.solvers.rank_svm import solve_rank_svm
from mlspl.solvers.threads import one_library_thread, raise_interrupts
from mlspl.solvers.trees import FlatTrees, average_leaves

__all__ = [
    "FlatTrees",
    "TreeFeatures",
    "average_leaves",
    "grow_extra_trees",
    "one_library_thread",
    "raise_interrupts",
    "solve_codes",
    "solve_linear",
    "solve_rank_svm",
    "solve_ridge",
    "solve_svms",
    "solve_svrs",
]

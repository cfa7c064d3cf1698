"""The solvers room."""

from mlspl.solvers.code_program import CodeSolution, solve_codes
from mlspl.solvers.kernel_svr import SVRSolution, solve_svrs
from mlspl.solvers.rank_svm import LabelPairs, RankSVMSolution, label_pairs, solve_rank_svm

__all__ = [
    "CodeSolution",
    "LabelPairs",
    "RankSVMSolution",
    "SVRSolution",
    "label_pairs",
    "solve_codes",
    "solve_rank_svm",
    "solve_svrs",
]

"""Repeatable experiments: trials, their store, the runner, statistics, tables, figures and the report.

`plan_trials` lists trials, `run_trials` runs those that the `Store` does not have yet, and `write_results`
writes tables, figures, tests and a page. `read_scores` and `compare` test scores of any origin.
"""

from mlspl.experiments.comparison import Comparison, compare, known_directions, read_scores
from mlspl.experiments.execution import run_trial
from mlspl.experiments.figures import critical_difference_figure, figure_files
from mlspl.experiments.report import RESULT_FILES, Results, write_comparisons, write_results
from mlspl.experiments.runner import run_trials
from mlspl.experiments.scores import (
    PAPER_CRITERIA,
    PAPER_DATASETS,
    PAPER_FUNCTIONS,
    PAPER_METHODS,
    paper_mean,
    score_table,
    summarise,
)
from mlspl.experiments.statistics import critical_difference, fewest_splits, holm, wilcoxon_pairs
from mlspl.experiments.store import Store, StoreError
from mlspl.experiments.tables import criterion_head, markdown_table, markdown_tables, text_tables, text_tests
from mlspl.experiments.trial import PUBLISHED, Outcome, Trial, is_standard, plan_trials

__all__ = [
    "PAPER_CRITERIA",
    "PAPER_DATASETS",
    "PAPER_FUNCTIONS",
    "PAPER_METHODS",
    "PUBLISHED",
    "RESULT_FILES",
    "Comparison",
    "Outcome",
    "Results",
    "Store",
    "StoreError",
    "Trial",
    "compare",
    "criterion_head",
    "critical_difference",
    "critical_difference_figure",
    "fewest_splits",
    "figure_files",
    "holm",
    "is_standard",
    "known_directions",
    "markdown_table",
    "markdown_tables",
    "paper_mean",
    "plan_trials",
    "read_scores",
    "run_trial",
    "run_trials",
    "score_table",
    "summarise",
    "text_tables",
    "text_tests",
    "wilcoxon_pairs",
    "write_comparisons",
    "write_results",
]

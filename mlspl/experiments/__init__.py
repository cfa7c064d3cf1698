"""Experiments that anyone can repeat: trials, the store that keeps them, the runner, and what they show.

A `Trial` is one method on one split of one data set. `plan_trials` lists those of a run, `run_trials` runs
what the `Store` does not have yet, `write_results` turns them into tables, figures and tests, and
`write_report` into a page.
`read_scores` and `compare` do the statistics for anyone's scores.
"""

from mlspl.experiments.comparison import Comparison, Ranking, compare, known_directions, read_scores
from mlspl.experiments.comparison_tables import pairs_table, ranks_table, wins_table
from mlspl.experiments.execution import run_trial
from mlspl.experiments.figures import (
    critical_difference_figure,
    draw_intervals,
    pace_function_figure,
    save_figure,
)
from mlspl.experiments.paper import (
    PAPER_CRITERIA,
    PAPER_DATASETS,
    PAPER_FUNCTIONS,
    PAPER_METHODS,
    PUBLISHED,
    paper_mean,
)
from mlspl.experiments.plan import plan_trials
from mlspl.experiments.report import write_report
from mlspl.experiments.results import Results, write_comparisons, write_results
from mlspl.experiments.runner import run_trials
from mlspl.experiments.scores import score_table, summarise
from mlspl.experiments.statistics import (
    Friedman,
    average_ranks,
    corrected_t_pairs,
    critical_difference,
    fewest_splits,
    friedman,
    holm,
    wilcoxon_pairs,
)
from mlspl.experiments.store import Store, StoreError
from mlspl.experiments.tables import (
    criterion_head,
    latex_tables,
    markdown_table,
    markdown_tables,
    rich_tables,
)
from mlspl.experiments.trial import Outcome, Trial, is_standard

__all__ = [
    "PAPER_CRITERIA",
    "PAPER_DATASETS",
    "PAPER_FUNCTIONS",
    "PAPER_METHODS",
    "PUBLISHED",
    "Comparison",
    "Friedman",
    "Outcome",
    "Ranking",
    "Results",
    "Store",
    "StoreError",
    "Trial",
    "average_ranks",
    "compare",
    "corrected_t_pairs",
    "criterion_head",
    "critical_difference",
    "critical_difference_figure",
    "draw_intervals",
    "fewest_splits",
    "friedman",
    "holm",
    "is_standard",
    "known_directions",
    "latex_tables",
    "markdown_table",
    "markdown_tables",
    "pace_function_figure",
    "pairs_table",
    "paper_mean",
    "plan_trials",
    "ranks_table",
    "read_scores",
    "rich_tables",
    "run_trial",
    "run_trials",
    "save_figure",
    "score_table",
    "summarise",
    "wilcoxon_pairs",
    "wins_table",
    "write_comparisons",
    "write_report",
    "write_results",
]

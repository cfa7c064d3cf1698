"""`docs/benchmark.md`: what the results file shows.

``python -m studies.benchmark.page docs/benchmark.md``
"""

import sys
from pathlib import Path
from string import Template

import pandas as pd

from mlspl.errors import UserError
from mlspl.experiments import Comparison, critical_difference_figure
from studies.benchmark import tables, words
from studies.benchmark.declaration import ENTRIES, REAL, SECONDS, SETS, SPLITS
from studies.benchmark.figures import time_figure
from studies.benchmark.methods import OUTSIDE
from studies.benchmark.scores import ROPE, compare_methods, condition_means, ranked_trials, score_trials
from studies.benchmark.tuning import CRITERION, FOLDS, N_SETTINGS
from studies.results import read_results, save_figure

__all__ = ["RESULTS", "benchmark_page", "write_page"]

RESULTS = Path(__file__).with_name("results.csv.gz")
"""The committed results."""

_TEMPLATE = Path(__file__).with_name("page.md")


def write_page(results: pd.DataFrame, path: Path, n_declared: int | None = None) -> None:
    """Write the page, and its figures to the folder `images` beside it.

    Parameters
    ----------
    results : DataFrame
        From :func:`studies.results.read_results`.
    path : Path
        The page.
    n_declared : int, optional
        As in :func:`benchmark_page`.
    """
    table = _score(results)
    images = path.parent / "images"
    images.mkdir(parents=True, exist_ok=True)
    save_figure(critical_difference_figure(list(_compare(table).values())), images, "benchmark_ranks")
    ours = [method.title for name, method in ENTRIES.items() if name not in OUTSIDE]
    save_figure(time_figure(_time_panels(table), ours), images, "benchmark_time")
    path.write_text(benchmark_page(results, n_declared), encoding="utf-8")


def benchmark_page(results: pd.DataFrame, n_declared: int | None = None) -> str:
    """Return the page as Markdown.

    Parameters
    ----------
    results : DataFrame
        From :func:`studies.results.read_results`.
    n_declared : int, optional
        How many trials there are to be; by default those of the declaration.
    """
    table = _score(results)
    if n_declared is None:
        n_sets = {name: len(REAL) if name == "real" else len(SETS) for name in SPLITS}
        n_declared = sum(n_sets[name] * n for name, n in SPLITS.items()) * len(ENTRIES)
    comparisons = _compare(table)
    leader = words.find_leader(ranked_trials(table), CRITERION)
    missing = n_declared - len(table)
    return Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        n_methods=table["method"].nunique(),
        n_sets=table.loc[table["corruption"] != "real", "dataset"].nunique(),
        n_kinds=table.loc[~table["corruption"].isin(["", "real"]), "corruption"].nunique(),
        n_real=table.loc[table["corruption"] == "real", "dataset"].nunique(),
        n_done=f"{len(table):,}",
        n_declared=f"{n_declared:,}",
        n_failed_text=words.count_failures(table),
        unfinished=words.tell_unfinished(missing, comparisons),
        short=words.tell_ranks(comparisons),
        real=words.tell_real(table, CRITERION),
        limits=words.tell_limits(comparisons),
        ranks=tables.rank_table(ranked_trials(table), comparisons),
        conditions=tables.condition_table(table, CRITERION),
        clean=tables.set_table(table, CRITERION),
        noisy=tables.set_table(table, CRITERION, "real"),
        macro=tables.set_table(table, "macro_f1"),
        time_text=words.tell_time(_time_panels(table)),
        groups=tables.group_table(ranked_trials(table), CRITERION),
        leader=leader,
        rope=f"{ROPE:g}",
        odds=words.tell_odds(leader, comparisons),
        tests=tables.test_table(leader, comparisons),
        sets=tables.sets_table(table),
        settings=tables.settings_table(table),
        n_settings=N_SETTINGS,
        n_folds=FOLDS,
        seconds=f"{SECONDS:g}",
        failures=words.list_failures(table),
        machines=words.list_machines(table),
        versions=words.list_versions(table),
    )


def _score(results: pd.DataFrame) -> pd.DataFrame:
    if results.empty:
        raise UserError("There are no results yet; `make benchmark` writes them.")
    return score_trials(results)


def _compare(table: pd.DataFrame) -> dict[str, Comparison]:
    """Comparisons on clean labels and on planted noise, as far as there are results."""
    ranked = ranked_trials(table)
    parts = {
        "clean labels": ranked[ranked["corruption"] == ""],
        "planted noise": ranked[ranked["corruption"] != ""],
    }
    return {
        what: compare_methods(part, CRITERION, f"average precision, {what}")
        for what, part in parts.items()
        if len(part)
    }


def _time_panels(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    seconds = table.groupby("title")["seconds"].median()
    means = condition_means(table, CRITERION)
    panels = {
        "clean labels": means.reindex(columns=[""]),
        "planted noise": means.drop(columns=["", "real"], errors="ignore"),
    }
    return {
        title: pd.DataFrame({"seconds": seconds, "score": part.mean(axis=1)}).dropna()
        for title, part in panels.items()
        if part.notna().to_numpy().any()
    }


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m studies.benchmark.page PAGE.md")
    try:
        write_page(read_results(RESULTS), Path(sys.argv[1]))
    except (UserError, OSError) as error:
        sys.exit(f"error: {error}")

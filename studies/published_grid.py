"""The paper's search of λ and μ, in full, for its four self-paced functions.

``python -m studies.published_grid`` runs the splits that `studies/published_grid.csv.gz` lacks and adds them.
:func:`grid_section` writes them as a part of `docs/reproduction.md`.
"""

import gzip
import io
from itertools import product
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from joblib import Parallel, delayed
from matplotlib.figure import Figure

from mlspl._files import write_file
from mlspl._progress import show_progress
from mlspl.datasets import Dataset, load_dataset
from mlspl.experiments import (
    PAPER_CRITERIA,
    PAPER_DATASETS,
    PUBLISHED,
    Trial,
    criterion_head,
    markdown_table,
    paper_mean,
    run_trial,
)
from mlspl.metrics import CRITERIA

__all__ = ["RESULTS", "grid_figure", "grid_section", "read_grid", "summarise_grid"]

RESULTS = Path(__file__).with_name("published_grid.csv.gz")
FUNCTIONS = ("arctan", "sigmoid", "tanh", "exponential")
PACES = (1e-5, 1e-4, 1e-3, 1e-2)
GROWTHS = (1.1, 1.2, 1.3, 1.4, 1.5)
FIXED = (1e-2, 1.3)
N_SPLITS = 10
_KEYS = ["dataset", "split", "function", "pace", "growth"]
_WAYS = {"fixed": "λ = 0.01, μ = 1.3", "searched": "searched on training rows", "best": "best on test rows"}


def _run_split(name: str, data: Dataset, split: int) -> list[dict]:
    """All points of the grid, and for each function the search by cross-validation on the training rows."""
    rows = []
    for function in FUNCTIONS:
        grid: list[tuple] = [*product(PACES, GROWTHS), (None, None)]
        for pace, growth in grid:
            searched = pace is None
            parameters = {"pace_function": function, "pace": pace, "growth": growth, "max_steps": 20}
            if searched:
                parameters |= {"pace": list(PACES), "growth": list(GROWTHS)}
                parameters |= {"pace_function": [function], "max_steps": [20]}
            tune = "average_precision" if searched else ""
            trial = Trial(name, data.fingerprint(), PUBLISHED, parameters, split, 0.3, "", tune)
            outcome = run_trial(trial, data)
            if outcome.error:
                raise RuntimeError(f"{trial}: {outcome.error}")
            scores = {criterion: round(outcome.scores[criterion], 5) for criterion in PAPER_CRITERIA}
            rows.append(dict(zip(_KEYS, (name, split, function, pace, growth), strict=True)) | scores)
    return rows


def read_grid(path: Path = RESULTS) -> pd.DataFrame:
    """Read the results: a row per data set, split, function, λ and μ. Searched λ and μ are NaN."""
    if not path.exists():
        return pd.DataFrame(columns=[*_KEYS, *PAPER_CRITERIA])
    return pd.read_csv(io.StringIO(gzip.decompress(path.read_bytes()).decode()))


def summarise_grid(results: pd.DataFrame) -> pd.DataFrame:
    """Mean criteria over the splits, by data set, function and way of choosing λ and μ.

    "best" is the best value on the test rows of each split: an upper bound, not a result.
    """
    at_fixed = results[(results["pace"] == FIXED[0]) & (results["growth"] == FIXED[1])]
    by = ["dataset", "split", "function"]
    on_grid = results.dropna(subset="pace").groupby(by)
    best = pd.DataFrame(
        {
            name: on_grid[name].max() if CRITERIA[name].greater_is_better else on_grid[name].min()
            for name in PAPER_CRITERIA
        }
    ).reset_index()
    ways = {"fixed": at_fixed, "searched": results[results["pace"].isna()], "best": best}
    means = {
        way: table.groupby(["dataset", "function"])[list(PAPER_CRITERIA)].mean()
        for way, table in ways.items()
    }
    return pd.concat(means, names=["way"]).reorder_levels(["dataset", "function", "way"]).sort_index()


def grid_section(results: pd.DataFrame) -> str:
    """Return the tables of the grid as Markdown: average precision first, the other criteria collapsed."""
    means = summarise_grid(results)
    shown, *others = sorted(PAPER_CRITERIA, key=lambda name: name != "average_precision")
    parts = [_criterion_table(means, shown)]
    for name in others:
        parts.append(f"```{{dropdown}} {criterion_head(name)}\n{_criterion_table(means, name)}\n```")
    return "\n\n".join(parts)


def _criterion_table(means: pd.DataFrame, criterion: str) -> str:
    rows = []
    for name, function in product(PAPER_DATASETS, FUNCTIONS):
        values = [f"{means.loc[(name, function, way), criterion]:.4f}" for way in _WAYS]
        # The paper's tables are of the sigmoid function.
        printed = f"{paper_mean(name, PUBLISHED, criterion):.4f}" if function == "sigmoid" else ""
        rows.append([f"{name}, {function}", *values, f"{paper_mean(name, 'ml-loc', criterion):.4f}", printed])
    heads = ["data set, function", *_WAYS.values(), "the paper's ML-LOC", "the paper's MLSPL"]
    return markdown_table(heads, rows)


def grid_figure(results: pd.DataFrame) -> Figure:
    """The paper's Figure 2: every criterion of the four functions on each data set."""
    means = summarise_grid(results)
    figure, axes = plt.subplots(
        len(PAPER_DATASETS), len(PAPER_CRITERIA), figsize=(12, 6.2), layout="constrained"
    )
    for row, name in zip(axes, PAPER_DATASETS, strict=True):
        for ax, criterion in zip(row, PAPER_CRITERIA, strict=True):
            for marker, (way, title) in zip("osx", _WAYS.items(), strict=True):
                values = [means.loc[(name, function, way), criterion] for function in FUNCTIONS]
                ax.plot(values, range(len(FUNCTIONS)), marker, label=title, fillstyle="none")
            ax.axvline(paper_mean(name, PUBLISHED, criterion), color="0.6", lw=1, label="paper, sigmoid")
            ax.set_yticks(range(len(FUNCTIONS)), FUNCTIONS if ax is row[0] else [""] * len(FUNCTIONS))
            ax.margins(y=0.2)
            ax.set_title(f"{name}: {criterion_head(criterion)}", fontsize=8)
            ax.tick_params(labelsize=7)
            ax.locator_params(axis="x", nbins=4)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    return figure


def main() -> None:
    """Run the splits that the results file lacks."""
    datasets = {name: load_dataset(name) for name in PAPER_DATASETS}
    results = read_grid()
    finished = set(results[["dataset", "split"]].itertuples(index=False, name=None))
    waiting = [
        (name, split) for split in range(N_SPLITS) for name in PAPER_DATASETS if (name, split) not in finished
    ]
    found = Parallel(n_jobs=-1, return_as="generator_unordered")(
        delayed(_run_split)(name, datasets[name], split) for name, split in waiting
    )
    with show_progress("splits of the grid", len(waiting), lines=True) as advance:
        for rows in found:
            results = pd.concat([results, pd.DataFrame(rows)] if len(results) else [pd.DataFrame(rows)])
            table = results.sort_values(_KEYS, kind="stable")
            write_file(RESULTS, gzip.compress(table.to_csv(index=False).encode(), mtime=0))
            advance(f"{rows[0]['dataset']}, split {rows[0]['split']}")


if __name__ == "__main__":
    main()

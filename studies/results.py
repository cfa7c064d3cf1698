"""A study's results as a table in a small file of the repository: what its page shows and runs go on from.

A row a trial: what was run, on data of which size, what it gave, and what it cost on which machine. Anybody
reads it with ``pandas.read_csv``.
"""

import gzip
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import sparse

from mlspl._files import write_file
from mlspl.datasets import Dataset
from mlspl.experiments import Outcome, Store, Trial, figure_files

__all__ = ["SCORES", "export", "join_results", "load_into", "read_results", "save_figure", "write_results"]

SCORES = (
    "average_precision",
    "ranking_loss",
    "one_error",
    "coverage",
    "hamming_loss",
    "micro_f1",
    "macro_f1",
    "subset_accuracy",
)
"""The criteria that are kept."""

_DIGITS = 5
_TRIAL = ["dataset", "corruption", "method", "split", "key"]
_COSTS = ["tune_seconds", "fit_seconds", "predict_seconds"]
_FACTS = ["rows", "features", "labels", "cardinality", "positives", "sparse"]
COLUMNS = [*_TRIAL, *SCORES, "error", "chosen", *_COSTS, "peak_mb", "recorded", "versions", *_FACTS]


def save_figure(figure: Figure, folder: Path, name: str) -> None:
    """Save a figure as PNG and SVG."""
    for file, content in figure_files(figure, name).items():
        write_file(folder / file, content)


def export(
    store: Store,
    trials: Iterable[Trial],
    datasets: Mapping[str, Dataset],
    entries: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Return what the store has of these trials, a row each, in the file's columns and order.

    Parameters
    ----------
    store : Store
        Their outcomes.
    trials : iterable of Trial
        Which.
    datasets : mapping
        Their data.
    entries : mapping, optional
        What the study calls each trial's method, by the trial's key, where it runs a method in several ways.
    """
    frame = store.frame(trial.key for trial in trials)
    facts = {name: describe(data) for name, data in datasets.items()}
    rows = []
    for trial in frame.itertuples():
        row = {name: getattr(trial, name) for name in _TRIAL} | facts[trial.dataset]
        row["method"] = (entries or {}).get(trial.key, trial.method)
        row["error"] = trial.error or ""
        row |= {name: trial.scores.get(name) for name in SCORES}
        row |= {name: round(getattr(trial, name), 3) for name in _COSTS}
        row["chosen"] = json.dumps(_chosen(trial.chosen), sort_keys=True)
        row["peak_mb"] = round((trial.peak_memory or 0) / 2**20)
        row["recorded"] = trial.recorded[:10]
        row["versions"] = json.dumps(trial.versions, sort_keys=True)
        rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)


def describe(dataset: Dataset) -> dict[str, object]:
    """What the page says of a data set: size, labels a row, relevant rows of the median label."""
    statistics = dataset.describe()
    return {
        "rows": statistics.n_rows,
        "features": statistics.n_features,
        "labels": statistics.n_labels,
        "cardinality": round(statistics.cardinality, 3),
        "positives": int(np.median(dataset.describe_labels()["positives"])),
        "sparse": int(sparse.issparse(dataset.X)),
    }


def write_results(path: Path, results: pd.DataFrame) -> None:
    """Write the table: sorted, rounded, and with the same bytes whenever the rows are the same.

    Parameters
    ----------
    path : Path
        The file, ``.csv.gz``.
    results : DataFrame
        From :func:`export` or :func:`join_results`.
    """
    table = results.sort_values(_TRIAL, kind="stable").copy()
    table[list(SCORES)] = table[list(SCORES)].astype(float).round(_DIGITS)
    text = table.to_csv(index=False, columns=COLUMNS, lineterminator="\n")
    write_file(path, gzip.compress(text.encode(), mtime=0))


def join_results(known: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Add rows to a table. Those of the same trials stay as they are; those of a newer version are replaced.

    Parameters
    ----------
    known, new : DataFrame
        From :func:`read_results` and :func:`export`.
    """
    finished = known.loc[known["error"] == "", "key"]
    new = new[~new["key"].isin(finished)]
    tables = [table for table in (known, new) if len(table)]
    joined = pd.concat(tables, ignore_index=True) if tables else known
    return joined.drop_duplicates(_TRIAL[:-1], keep="last")


def read_results(path: Path) -> pd.DataFrame:
    """Read the table; an empty one where there is no file.

    Parameters
    ----------
    path : Path
        The file.
    """
    if not path.exists():
        return pd.DataFrame(columns=COLUMNS)
    text = gzip.decompress(path.read_bytes()).decode()
    table = pd.read_csv(io.StringIO(text), dtype={"corruption": str, "error": str}, keep_default_na=False)
    for name in SCORES:
        table[name] = pd.to_numeric(table[name])
    return table


def load_into(store: Store, results: pd.DataFrame, trials: Iterable[Trial]) -> int:
    """Record those of the trials that the table has and the store has not; return how many.

    Parameters
    ----------
    store : Store
        Where they go.
    results : DataFrame
        From :func:`read_results`.
    trials : iterable of Trial
        Of the run.
    """
    known = store.finished() | set(store.failed())
    rows = results.set_index("key")
    count = 0
    for trial in trials:
        if trial.key not in rows.index or trial.key in known:
            continue
        row = rows.loc[trial.key]
        outcome = Outcome(
            scores={} if row["error"] else {name: float(row[name]) for name in SCORES},
            error=row["error"] or None,
            chosen=json.loads(row["chosen"]),
            peak_memory=int(row["peak_mb"]) * 2**20,
            versions=json.loads(row["versions"]),
            tune_seconds=float(row["tune_seconds"]),
            fit_seconds=float(row["fit_seconds"]),
            predict_seconds=float(row["predict_seconds"]),
        )
        store.record(trial, outcome)
        count += 1
    return count


def _chosen(chosen: Mapping) -> dict:
    """What was chosen, without what there was to choose from."""
    return {name: value for name, value in chosen.items() if not isinstance(value, list | dict)}

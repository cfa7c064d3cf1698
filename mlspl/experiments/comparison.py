"""Comparing methods by a criterion: paired tests on each data set, ranks and tests over all data sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from mlspl.errors import UserError, listed
from mlspl.experiments.scores import score_table, standard_trials
from mlspl.experiments.statistics import average_ranks, critical_difference, friedman, wilcoxon_pairs
from mlspl.experiments.store import Store
from mlspl.metrics import CRITERIA
from mlspl.recipes import METHODS

ALL_DATASETS = "over data sets"
# The smallest number of pairs with which a signed-rank test can reach p < 0.05: 2/2^6 = 0.031.
_FEWEST_PAIRS = 6
_MOST_METHODS = 200


@dataclass(frozen=True)
class Ranking:
    """Ranks of three or more methods over two or more data sets, and the p-value of Friedman's test."""

    ranks: pd.Series
    p_value: float
    distance: float

    def groups(self) -> list[tuple[int, int]]:
        """The largest runs of ranks, in ascending order, within the distance: first and last index."""
        ranks = np.sort(self.ranks)
        groups: list[tuple[int, int]] = []
        for first, rank in enumerate(ranks):
            last = int(np.searchsorted(ranks, rank + self.distance, side="right")) - 1
            if last > first and (not groups or last > groups[-1][1]):
                groups.append((first, last))
        return groups


@dataclass(frozen=True)
class Comparison:
    """All tests by one criterion.

    `means` has a row per data set and a column per method, over the splits that all have. `pairs` are those
    of :func:`wilcoxon_pairs`, with the data set (or ``"over data sets"``) as `block`. `ranking` is None with
    fewer than two data sets or three methods. `notes` say what was left out.
    """

    criterion: str
    methods: list[str]
    means: pd.DataFrame
    pairs: pd.DataFrame
    ranking: Ranking | None
    notes: list[str]


def compare(scores: pd.DataFrame, criterion: str, greater_is_better: bool, alpha: float = 0.05) -> Comparison:
    """Compare all methods by one criterion.

    Parameters
    ----------
    scores : DataFrame
        With the columns `block`, `variant`, `split` and the criterion: see :func:`read_scores`.
    criterion, greater_is_better, alpha
        The column, its direction, and the level of Nemenyi's test.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [(data, method, split, score + split / 100)
    ...         for data, all_scores in {"a": (0.1, 0.2, 0.3), "b": (0.2, 0.3, 0.5)}.items()
    ...         for method, score in zip(("x", "y", "z"), all_scores) for split in range(6)]
    >>> scores = pd.DataFrame(rows, columns=["block", "variant", "split", "one_error"])
    >>> result = compare(scores, "one_error", greater_is_better=False)
    >>> result.ranking.ranks.to_dict(), float(result.pairs["p_holm"].max())
    ({'x': 1.0, 'y': 2.0, 'z': 3.0}, 0.09375)
    """
    table = scores.pivot(index=["block", "split"], columns="variant", values=criterion)
    known = [name for name in METHODS if name in table]
    table = table[known + [name for name in table if name not in known]]
    methods = list(table.columns)
    if len(methods) > _MOST_METHODS:
        raise UserError(
            f"{len(methods):,} methods are too many to compare in pairs: leave {_MOST_METHODS} at most."
        )
    notes: list[str] = []
    pairs, means = [], {}
    for block in dict.fromkeys(scores["block"]):
        paired = table.loc[block].dropna(axis="columns", how="all")
        complete = paired.dropna()
        if n_lacking := len(paired) - len(complete):
            notes.append(f"{block}: {n_lacking} of {len(paired)} splits lack a method; left out.")
        if len(complete) and complete.shape[1] == len(methods):
            means[block] = complete.mean()
        else:
            lacking = listed([name for name in methods if name not in complete])
            notes.append(f"{block}: no scores of {lacking or 'all methods on one split'}; not ranked.")
        if len(complete) > 1 and complete.shape[1] > 1:
            pairs.append(wilcoxon_pairs(complete, list(complete), greater_is_better).assign(block=block))
    table_of_means = pd.DataFrame.from_dict(means, orient="index", columns=methods)
    if len(table_of_means) >= _FEWEST_PAIRS and len(methods) > 1:
        pairs.append(wilcoxon_pairs(table_of_means, methods, greater_is_better).assign(block=ALL_DATASETS))
    ranking = None
    if len(table_of_means) > 1 and len(methods) > 2:
        ranking = Ranking(
            pd.Series(average_ranks(table_of_means, greater_is_better), index=methods),
            friedman(table_of_means),
            critical_difference(len(methods), len(table_of_means), alpha),
        )
    all_pairs = pd.concat(pairs, ignore_index=True) if pairs else pd.DataFrame(columns=["block", "p_holm"])
    return Comparison(criterion, methods, table_of_means, all_pairs, ranking, notes)


def known_directions(scores: pd.DataFrame) -> dict[str, bool]:
    """Return the criteria of a table whose direction is known, with True for greater is better."""
    return {name: known.greater_is_better for name, known in CRITERIA.items() if name in scores}


def read_scores(path: str | Path, criteria: Sequence[str] = ()) -> pd.DataFrame:
    """Read scores from a results file of `mlspl reproduce` or from a CSV file of any origin.

    The CSV has one row per data set, method and split: columns `dataset`, `method`, `split` (may be left out
    where there is one row per data set and method) and one column per criterion.

    The result has the columns `block`, `variant`, `split` and the criteria, among them all of `criteria`.
    Variants of methods that were also run with their standard parameters are left out.
    """
    path = Path(path)
    if not path.is_file():
        raise UserError(f"There is no file {path}; give a results.db of `mlspl reproduce` or a CSV file.")
    with path.open("rb") as stream:
        is_store = stream.read(16) == b"SQLite format 3\0"
    if is_store:
        with Store(path, create=False) as store:
            scores = score_table(standard_trials(store.frame()))
        if scores.empty:
            raise UserError(f"{path} holds no finished trial; run `mlspl reproduce` first.")
    else:
        scores = _read_csv(path)
    absent = [name for name in criteria if name not in scores]
    if absent:
        raise UserError(f"{path} has no column {absent[0]!r}; it has {', '.join(_numeric_columns(scores))}.")
    return scores


def _read_csv(path: Path) -> pd.DataFrame:
    try:
        # Not unpacked by its suffix: a small file could fill the memory.
        table = pd.read_csv(path, skipinitialspace=True, compression=None)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise UserError(
            f"{path} is neither a results file nor a CSV table ({str(error)[:200]}). "
            "If it is compressed, unpack it."
        ) from None
    if not isinstance(table.index, pd.RangeIndex):
        raise UserError(f"{path} has longer rows than its header. Complete the header.")
    unnamed = [name for name in table if name.startswith("Unnamed:") and table[name].isna().all()]
    table = table.drop(columns=unnamed)  # a comma at the end of each line

    def refuse(is_wrong: pd.Series, reason: str) -> None:
        if is_wrong.any():
            raise UserError(f"{path}, line {is_wrong.idxmax() + 2}: {reason}")

    for column in ("dataset", "method"):
        if column not in table:
            raise UserError(
                f"{path} has no column {column!r}; a table to compare has the columns dataset, method, split "
                "and one for each criterion. If these are data, name the --methods to compare on them."
            )
    if table.empty:
        raise UserError(f"{path} has a header and no rows: there is nothing to compare.")
    if "split" not in table:
        table["split"] = 0
    keys = ["dataset", "method", "split"]
    refuse(table[keys].isna().any(axis=1), "the data set, method or split is empty.")
    refuse(table.duplicated(keys), "this data set, method and split was given before.")
    table = table.rename(columns={"dataset": "block", "method": "variant"})
    table[["block", "variant"]] = table[["block", "variant"]].astype(str)
    for name in {**known_directions(table), **dict.fromkeys(_numeric_columns(table))}:
        is_finite = np.isfinite(pd.to_numeric(table[name], errors="coerce"))
        refuse(table[name].notna() & ~is_finite, f"the {name} is no finite number. It may be empty.")
    if not _numeric_columns(table):
        raise UserError(f"{path} has no column of numbers beside dataset, method and split.")
    return table


def _numeric_columns(table: pd.DataFrame) -> list[str]:
    others = {"split", "train", "tune_seconds", "fit_seconds", "predict_seconds", "peak_memory"}
    return [name for name in table.select_dtypes(np.number) if name not in others]

"""From stored trials to a table of scores, and from that to means, deviations and the paper's numbers."""

import numpy as np
import pandas as pd

from mlspl.experiments.paper import paper_mean
from mlspl.experiments.trial import canonical_json, is_standard
from mlspl.metrics import CRITERIA, FIVE

__all__ = ["criteria_in", "score_table", "standard_trials", "summarise"]


def score_table(trials: pd.DataFrame) -> pd.DataFrame:
    """Give every finished trial a column per criterion, and names that tell it from the others.

    `block` is what methods are compared on: the data set, with its share of training rows where several were
    run, and its corruption. `variant` is the method, with those of its parameters that differ between trials.

    Parameters
    ----------
    trials : DataFrame
        From :meth:`Store.frame`.

    Returns
    -------
    DataFrame
        The trials that have scores.

    Examples
    --------
    >>> import tempfile
    >>> from mlspl.experiments import Outcome, Store, Trial
    >>> with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/results.db") as store:
    ...     for name in ("sigmoid", "tanh"):
    ...         trial = Trial("flags", "9c4f", "mlspl-published", {"pace_function": name}, split=0)
    ...         store.record(trial, Outcome(scores={"one_error": 0.2}))
    ...     print(score_table(store.frame())[["block", "variant", "one_error"]].to_string(index=False))
    block                   variant  one_error
    flags mlspl-published (sigmoid)        0.2
    flags    mlspl-published (tanh)        0.2
    """
    trials = trials[trials["error"].isna()].reset_index(drop=True)
    scores = pd.DataFrame(trials["scores"].tolist(), index=trials.index, dtype=np.float64)
    return trials.assign(block=_blocks(trials), variant=_variants(trials)).join(scores)


def standard_trials(trials: pd.DataFrame) -> pd.DataFrame:
    """Leave out other variants of the methods that were also run with their standard parameters."""
    standard = np.array([is_standard(trial) for trial in trials.itertuples()], dtype=bool)
    return trials[standard | ~trials["method"].isin(trials["method"][standard])]


def criteria_in(scores: pd.DataFrame) -> list[str]:
    """Return those of the five criteria that the table has, in the order of the paper, and those tuned by."""
    tuned = [name for name in scores.get("tune", ()) if name in CRITERIA]
    return [name for name in dict.fromkeys((*FIVE, *tuned)) if name in scores]


def summarise(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation over the splits, who is best, and what the paper prints.

    Parameters
    ----------
    scores : DataFrame
        From :func:`score_table`.

    Returns
    -------
    DataFrame
        One row per block, criterion and variant: `mean`, `std` (with n - 1; NaN for one split), `splits`,
        `best` (equal to the best mean in the four decimals that are printed), `paper` and `difference`
        (NaN where the paper prints none, and wherever labels were corrupted or parameters changed).
    """
    rows = []
    for (block, variant), group in scores.groupby(["block", "variant"], sort=False):
        first = group.iloc[0]
        comparable = not first["corruption"] and is_standard(first)
        for criterion in criteria_in(scores):
            paper = paper_mean(first["dataset"], first["method"], criterion) if comparable else None
            rows.append(
                {
                    **{"block": block, "dataset": first["dataset"], "criterion": criterion},
                    **{"variant": variant, "method": first["method"]},
                    **{"train": first["train"], "corruption": first["corruption"], "tune": first["tune"]},
                    "folds": first["folds"],
                    **{"mean": group[criterion].mean(), "std": group[criterion].std(), "splits": len(group)},
                    "paper": np.nan if paper is None else paper,
                }
            )
    summary = pd.DataFrame(rows)
    summary["difference"] = summary["mean"] - summary["paper"]
    goal = np.where(summary["criterion"].map(lambda name: CRITERIA[name].greater_is_better), -1, 1)
    shown = summary["mean"].round(4) * goal
    summary["best"] = shown == shown.groupby([summary["block"], summary["criterion"]]).transform("min")
    return summary


def _blocks(trials: pd.DataFrame) -> pd.Series:
    several_shares = len(trials[["train", "folds"]].drop_duplicates()) > 1
    several_contents = trials.groupby("dataset")["fingerprint"].nunique() > 1

    def name(trial: pd.Series) -> str:
        parts = [trial["dataset"]]
        if several_contents[trial["dataset"]]:
            parts.append(trial["fingerprint"][:8])
        if several_shares:
            share = f"{100 * trial['train']:g} % training"
            parts.append(f"{trial['folds']} folds" if trial["folds"] else share)
        if trial["corruption"]:
            parts.append(trial["corruption"])
        return ", ".join(parts)

    return pd.Series([name(trial) for _, trial in trials.iterrows()], index=trials.index, dtype=object)


def _variants(trials: pd.DataFrame) -> pd.Series:
    settings = [
        {**trial["parameters"], "tune": trial["tune"], "version": trial["version"]}
        for _, trial in trials.iterrows()
    ]
    names: dict[str, dict[str, set[str]]] = {}
    for method, setting in zip(trials["method"], settings, strict=True):
        names.setdefault(method, {}).update({name: set() for name in setting})
    for method, setting in zip(trials["method"], settings, strict=True):
        for name, values in names[method].items():
            values.add(canonical_json(setting.get(name)))

    def label(method: str, setting: dict) -> str:
        differing = [
            _phrase(name, value)
            for name, value in setting.items()
            # A list is what tuning searched; the criterion it was tuned by says enough.
            if len(names[method][name]) > 1 and value and not (isinstance(value, list) and len(value) > 1)
        ]
        return f"{method} ({', '.join(differing)})" if differing else method

    labels = [label(*pair) for pair in zip(trials["method"], settings, strict=True)]
    return pd.Series(labels, index=trials.index, dtype=object)


def _phrase(name: str, value: object) -> str:
    if isinstance(value, list):
        (value,) = value
    if name == "tune":
        return f"tuned by {value}"
    return str(value) if name == "pace_function" else f"{name}={value}"

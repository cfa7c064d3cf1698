"""Tables of scores from stored trials: one row per trial, means over splits, and the paper's means."""

from typing import Any

import numpy as np
import pandas as pd

from mlspl.experiments.trial import PUBLISHED, canonical_json, is_standard
from mlspl.metrics import CRITERIA, PAPER_CRITERIA

PAPER_DATASETS = ("flags", "emotions", "scene")
"""The data sets of the paper."""
PAPER_METHODS = ("bsvm", "ml-knn", "tram", "ranksvm", "ml-loc", PUBLISHED)
"""The methods the paper compares."""
PAPER_FUNCTIONS = ("arctan", "sigmoid", "tanh", "exponential")
"""The self-paced functions of its Section III-B, in its order."""

_F1 = ("micro_f1", "macro_f1")

# One row per criterion, one column per method. The printed deviations are left out: those of MLSPL are far
# below what ten random splits give, so only means can be compared.
_MEANS = {
    "flags": (
        (0.2966, 0.3202, 0.2907, 0.3009, 0.2719, 0.2518),
        (0.2618, 0.2465, 0.2228, 0.2300, 0.2415, 0.2040),
        (0.2687, 0.2446, 0.1995, 0.2163, 0.2613, 0.1481),
        (4.0433, 3.9928, 3.8897, 3.9165, 3.9000, 3.7320),
        (0.7802, 0.7891, 0.8102, 0.8024, 0.7939, 0.8239),
    ),
    "scene": (
        (0.1183, 0.1208, 0.1096, 0.2567, 0.1009, 0.0946),
        (0.1099, 0.1153, 0.0965, 0.4492, 0.0943, 0.0837),
        (0.2984, 0.3175, 0.2921, 0.7855, 0.2638, 0.2412),
        (0.6395, 0.6635, 0.5680, 2.3308, 0.5610, 0.5034),
        (0.8180, 0.8084, 0.8279, 0.4507, 0.8407, 0.8551),
    ),
    "emotions": (
        (0.1937, 0.2039, 0.2210, 0.3286, 0.2047, 0.1933),
        (0.1563, 0.1714, 0.1617, 0.4043, 0.1739, 0.1462),
        (0.2529, 0.2788, 0.2758, 0.5549, 0.2667, 0.2138),
        (1.7882, 1.8657, 1.8024, 3.0896, 1.8879, 1.7226),
        (0.8091, 0.7910, 0.7986, 0.5789, 0.7950, 0.8228),
    ),
}


def score_table(trials: pd.DataFrame) -> pd.DataFrame:
    """Return the finished trials with a column per criterion, and the names `block` and `variant`.

    `block` is what methods are compared on: the data set, with its share of training rows where several were
    run, and its corruption. `variant` is the method, with those of its parameters that differ between trials.
    """
    trials = trials[trials["error"].isna()].reset_index(drop=True)
    scores = pd.DataFrame(trials["scores"].tolist(), index=trials.index, dtype=np.float64)
    return trials.assign(block=_blocks(trials), variant=_variants(trials)).join(scores)


def standard_trials(trials: pd.DataFrame) -> pd.DataFrame:
    """Leave out variants of methods that were also run with their standard parameters."""
    standard = np.array([is_standard(trial) for trial in trials.itertuples()], dtype=bool)
    return trials[standard | ~trials["method"].isin(trials["method"][standard])]


def paced_trials(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the trials of MLSPL as published, with the self-paced function of each."""
    paced = scores[scores["method"] == PUBLISHED]
    return paced.assign(function=[chosen.get("pace_function") for chosen in paced["chosen"]])


def criteria_in(scores: pd.DataFrame) -> list[str]:
    """Return the criteria to report: those of the paper, F1, and those that methods were tuned by."""
    tuned = [name for name in scores.get("tune", ()) if name in CRITERIA]
    return [name for name in dict.fromkeys((*PAPER_CRITERIA, *_F1, *tuned)) if name in scores]


def summarise(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the mean and standard deviation over the splits, the best method and the paper's mean."""
    rows = []
    for (block, variant), group in scores.groupby(["block", "variant"], sort=False):
        first = group.iloc[0]
        comparable = not first["corruption"] and is_standard(first)
        for criterion in criteria_in(scores):
            paper = paper_mean(first["dataset"], first["method"], criterion) if comparable else None
            constant = ("dataset", "method", "train", "corruption", "tune", "folds")
            rows.append(
                {name: first[name] for name in constant}
                | {"block": block, "variant": variant, "criterion": criterion, "splits": len(group)}
                | {"mean": group[criterion].mean(), "std": group[criterion].std()}
                | {"paper": np.nan if paper is None else paper}
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

    def name(trial: Any) -> str:
        share = f"{trial.folds} folds" if trial.folds else f"{100 * trial.train:g} % training"
        checksum = trial.fingerprint[:8] if several_contents[trial.dataset] else ""
        parts = (trial.dataset, checksum, share if several_shares else "", trial.corruption)
        return ", ".join(filter(None, parts))

    return pd.Series([name(trial) for trial in trials.itertuples()], index=trials.index, dtype=object)


def _variants(trials: pd.DataFrame) -> pd.Series:
    labels = trials["method"].astype(object)
    for method, group in trials.groupby("method"):
        settings = [
            {**parameters, "tune": tune, "version": version}
            for parameters, tune, version in zip(
                group["parameters"], group["tune"], group["version"], strict=True
            )
        ]
        names = dict.fromkeys(name for setting in settings for name in setting)
        differing = [name for name in names if len({canonical_json(s.get(name)) for s in settings}) > 1]
        for index, setting in zip(group.index, settings, strict=True):
            words = [_phrase(name, setting[name]) for name in differing if setting.get(name)]
            if words := list(filter(None, words)):
                labels[index] = f"{method} ({', '.join(words)})"
    return labels


def _phrase(name: str, value: object) -> str:
    if isinstance(value, list):
        if len(value) > 1:  # what tuning searched; the criterion it was tuned by says enough
            return ""
        (value,) = value
    if name == "tune":
        return f"tuned by {value}"
    return str(value) if name == "pace_function" else f"{name}={value}"


def paper_mean(dataset: str, method: str, criterion: str) -> float | None:
    """Return the mean the paper prints, or None where it prints none."""
    if dataset not in _MEANS or method not in PAPER_METHODS or criterion not in PAPER_CRITERIA:
        return None
    return _MEANS[dataset][PAPER_CRITERIA.index(criterion)][PAPER_METHODS.index(method)]

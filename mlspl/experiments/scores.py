"""Tables of scores from stored trials: one row per trial, means over splits, and the paper's means."""

from functools import cache
from pathlib import Path
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


def score_table(trials: pd.DataFrame) -> pd.DataFrame:
    """Return the finished trials with a column per criterion, and the names `block` and `variant`.

    A block is a data set, training share and corruption; a variant a method with the parameters that differ.
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
    constant = ["dataset", "method", "train", "corruption", "tune", "folds"]
    for (block, variant), group in scores.groupby(["block", "variant"], sort=False):
        first = group.iloc[0]
        comparable = not first["corruption"] and is_standard(first)
        for criterion in criteria_in(scores):
            paper = paper_mean(first["dataset"], first["method"], criterion) if comparable else float("nan")
            means = (group[criterion].mean(), group[criterion].std(), paper)
            rows.append((*first[constant], block, variant, criterion, len(group), *means))
    columns = ["block", "variant", "criterion", "splits", "mean", "std", "paper"]
    summary = pd.DataFrame(rows, columns=[*constant, *columns])
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
            {**trial.parameters, "tune": trial.tune, "version": trial.version} for trial in group.itertuples()
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


@cache
def _paper_means() -> pd.DataFrame:
    """Means that the paper prints; its deviations are far below what ten random splits give."""
    return pd.read_csv(Path(__file__).with_name("paper_means.csv"), index_col=["dataset", "criterion"])


def paper_mean(dataset: str, method: str, criterion: str) -> float:
    """Return the mean that the paper prints, NaN where it prints none."""
    means = _paper_means()
    is_printed = (dataset, criterion) in means.index and method in means
    return float(means.loc[(dataset, criterion), method]) if is_printed else float("nan")

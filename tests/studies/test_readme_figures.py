"""The figures of the README are those of the studies."""

import inspect
import re
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.multioutput import MultiOutputClassifier

import mlspl.torch
from studies.pacing import gains, read_results

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def mean_gain(noise):
    return gains(read_results()).xs((noise, "forest"), level=("noise", "model"))["gain"]


def test_gains_of_pacing():
    found = re.search(
        r"gains ([\d.]+) in the mean.+?gains ([\d.]+)\. .+?at most ([\d.]+) ", README, re.DOTALL
    )
    real, flipped, lost = found.groups()
    assert f"{mean_gain('real').mean():.3f}" == real
    assert f"{mean_gain('flip:0.3').mean():.3f}" == flipped
    assert (mean_gain("real") >= 0).all()
    assert f"{-mean_gain('clean').min():.3f}" == lost


def test_average_precision_of_audits():
    page = (ROOT / "docs" / "audits.md").read_text(encoding="utf-8")
    figures = re.search(
        r"precision of ([\d.]+) and cleanlab's.+?([\d.]+)\. On.+?have ([\d.]+) and ([\d.]+) ", README
    )
    for kind, (ours, theirs) in enumerate([figures.group(1, 2), figures.group(3, 4)], start=1):
        for method, figure in {"audit": ours, "cleanlab": theirs}.items():
            (row,) = re.findall(rf"^\| {method} \| (\S+) \| (\S+) \|$", page, re.MULTILINE)
            assert row[kind - 1] == figure


def test_sentences_are_short():
    prose = re.sub(r"```.*?```|^\|.*$|^#.*$|^!.*$", "", README, flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"\]\([^)]*\)", "]", prose)
    sentences = re.split(r"(?<=[.:;])[*]*\s+|\n\s*\n|\n- ", prose)
    assert [each for each in sentences if len(each.split()) > 25] == []


X, Y = np.arange(24.0).reshape(12, 2) % 7, np.eye(12, dtype=int)[:, :2]


def check_weights():
    estimators = [getattr(mlspl, name) for name in mlspl.__all__ if name.endswith(("Classifier", "CV"))]
    assert all("label_weight" in inspect.signature(each.fit).parameters for each in estimators)
    for peer in (ExtraTreesClassifier(2), MultiOutputClassifier(LogisticRegression())):
        with pytest.raises(ValueError, match="1D"):
            peer.fit(X, Y, sample_weight=np.ones(Y.shape))
        with pytest.raises(ValueError, match="NaN"):
            peer.fit(X, np.where(Y, np.nan, 0.0))


def check_wrong_labels():
    pytest.importorskip("cleanlab")
    assert callable(import_module("cleanlab.multilabel_classification.filter").find_label_issues)


def check_annotators():
    pytest.importorskip("cleanlab")
    multiannotator = import_module("cleanlab.multiannotator").get_label_quality_multiannotator
    with pytest.raises((AssertionError, ValueError)):
        multiannotator(np.stack([Y, Y], axis=2), np.full((12, 2), 0.5))


def check_thresholds():
    with pytest.raises(ValueError, match=r"[Bb]inary"):
        TunedThresholdClassifierCV(LogisticRegression()).fit(X, Y)
    tuned = TunedThresholdClassifierCV(LogisticRegression(), cv=0.5, random_state=0, refit=True)
    assert len(MultiOutputClassifier(tuned).fit(X, X < 3).estimators_) == 2


# What the table says, by the beginning of its rows; rows of what only we have name public things.
ROWS = {
    "a weight and a NaN": check_weights,
    "wrong labels": check_wrong_labels,
    "noise rates with intervals": "curriculum.noise_rates",
    "review in the browser": "pages.write_audit_folder",
    "several annotators": check_annotators,
    "self-paced forests, MLSPL": "SelfPacedForestClassifier",
    "pacing around": "SelfPacedClassifier",
    "self-paced loss": "torch.SelfPacedNetClassifier",
    "per-label thresholds": check_thresholds,
    "model files": "persistence.TRUSTED_TYPES",
}


@pytest.mark.parametrize("row", re.findall(r"^\| ([^|-][^|]+) \|", README, re.MULTILINE))
def test_rows_of_the_comparison(row):
    """What the table says of us, and of the libraries that the suite has."""
    (check,) = (check for start, check in ROWS.items() if row.startswith(start))
    if callable(check):
        check()
    else:
        assert attrgetter(check)(mlspl)

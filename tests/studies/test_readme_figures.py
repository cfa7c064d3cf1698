"""The figures of the README are those of the studies."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import TunedThresholdClassifierCV

import mlspl
from studies.pacing import gains, read_results

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def mean_gain(noise):
    return gains(read_results()).xs((noise, "forest"), level=("noise", "model"))["gain"]


def test_gains_of_pacing():
    real, flipped = re.search(r"gains ([\d.]+) in the mean.+?gains ([\d.]+);", README, re.DOTALL).groups()
    assert f"{mean_gain('real').mean():.3f}" == real
    assert f"{mean_gain('flip:0.3').mean():.3f}" == flipped
    assert (mean_gain("real") >= 0).all()
    assert (mean_gain("clean") > -0.001).all()


def test_average_precision_of_audits():
    page = (ROOT / "docs" / "audits.md").read_text(encoding="utf-8")
    figures = re.search(
        r"precision of ([\d.]+), cleanlab's.+?([\d.]+)\. On.+?have ([\d.]+) and ([\d.]+) ", README
    )
    means = dict(re.findall(r"Mean average precision \((real|planted)\): (.+)", page))
    for kind, (ours, theirs) in {"real": figures.group(1, 2), "planted": figures.group(3, 4)}.items():
        assert f"audit {ours}," in means[kind]
        assert f"cleanlab {theirs}," in means[kind]


def test_sentences_are_short():
    prose = re.sub(r"```.*?```|^\|.*$|^#.*$|^!.*$", "", README, flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"\]\([^)]*\)", "]", prose)
    sentences = re.split(r"(?<=[.:;])[*]*\s+|\n\s*\n|\n- ", prose)
    assert [each for each in sentences if len(each.split()) > 25] == []


def test_rows_of_the_comparison():
    """What the table says of us, and of the libraries that the suite has."""
    estimators = [getattr(mlspl, name) for name in mlspl.__all__ if name.endswith(("Classifier", "CV"))]
    assert all("label_weight" in inspect.signature(each.fit).parameters for each in estimators)
    Y = np.eye(9, dtype=int)[:, :2]
    with pytest.raises(ValueError, match=r"[Bb]inary"):
        TunedThresholdClassifierCV(ExtraTreesClassifier(2)).fit(np.eye(9), Y)
    pytest.importorskip("cleanlab")
    assert callable(import_module("cleanlab.multilabel_classification.filter").find_label_issues)
    multiannotator = import_module("cleanlab.multiannotator").get_label_quality_multiannotator
    with pytest.raises((AssertionError, ValueError)):
        multiannotator(np.stack([Y, Y], axis=2), np.full((9, 2), 0.5))

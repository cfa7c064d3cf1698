"""The study of pacing: what is run, how gains are computed, and the page."""

import numpy as np
import pandas as pd
import pytest

from mlspl import MLSPLClassifier
from mlspl.datasets import load_dataset
from studies import pacing
from studies.pacing import Setting, gains, list_trials, run_trial, study_page


@pytest.fixture
def embedded(monkeypatch):
    """The embedded digits in place of every data set."""
    monkeypatch.setattr(
        pacing, "load_dataset", lambda name, **options: load_dataset("digits-traits", **options)
    )


@pytest.mark.parametrize("model", ["forest", "MLSPL", "extra trees"])
@pytest.mark.parametrize("noise", ["clean", "ambiguous:0.2"])
def test_a_trial_runs(embedded, model, noise):
    found = run_trial(Setting(noise, "flags"), model, 100)
    assert 0.5 < found["unpaced"] < 1
    assert np.isnan(found["paced"]) == (model == "extra trees")


def test_no_trial_is_listed_twice_and_all_splits_are_listed():
    trials = list_trials()
    assert len(set(trials)) == len(trials)
    assert {split for _, _, split in trials} == set(range(10))


def test_gains_are_means_over_splits():
    rows = [("real", "mirflickr", "forest", s, 0.8 + 0.01 * s, 0.79) for s in range(3)]
    rows += [("real", "mirflickr", "extra trees", 0, np.nan, 0.7)]
    results = pd.DataFrame(rows, columns=["noise", "data", "model", "split", "paced", "unpaced"])
    row = gains(results).loc["real", "mirflickr", "forest"]
    assert row["gain"] == pytest.approx(0.02)
    assert row["error"] == pytest.approx(0.01 / np.sqrt(3))
    page = study_page(results)
    assert "| mirflickr | 0.7000 | 0.8100 (+0.0200 ± 0.0058; 3) |" in page


def test_a_version_is_that_of_what_the_model_computes(monkeypatch):
    version = pacing.model_version("MLSPL")
    pacing.model_version.cache_clear()
    assert pacing.model_version("MLSPL") == version
    pacing.model_version.cache_clear()
    monkeypatch.setattr(
        pacing, "MLSPLClassifier", lambda random_state: MLSPLClassifier(C=2.0, random_state=random_state)
    )
    assert pacing.model_version("MLSPL") != version
    pacing.model_version.cache_clear()


def test_rows_of_older_models_are_dropped():
    rows = [("forest", 0, "old"), ("forest", 1, "new"), ("network", 0, "old")]
    results = pd.DataFrame(rows, columns=["model", "split", "version"])
    kept = pacing._drop_old(results, {"forest": "new"})
    assert kept[["model", "split"]].to_numpy().tolist() == [["forest", 1], ["network", 0]]

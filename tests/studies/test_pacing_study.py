"""The study of pacing: what is run, how gains are computed, and the page."""

import numpy as np
import pandas as pd
import pytest

from mlspl.datasets import load_dataset
from studies import pacing
from studies.pacing import Setting, gains, list_trials, run_trial, study_page


@pytest.fixture
def embedded(monkeypatch):
    """The embedded digits in place of every data set."""
    monkeypatch.setattr(
        pacing, "load_dataset", lambda name, encode: load_dataset("digits-traits", encode=encode)
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
    assert "| mirflickr | 0.7000 | 0.8100 (+0.0200 ± 0.0058; 3) | – |" in page

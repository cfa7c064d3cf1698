"""The study of audits: what is planted, how it is scored, and the page of its results."""

import numpy as np
import pandas as pd
import pytest
from cleanlab.multilabel_classification import filter as by_label

from studies.audits.__main__ import plant, score_counts, score_ranking, score_rates
from studies.audits.page import METHODS, write_page
from studies.audits.rivals import confident_rates, disagree_neighbours, rank_by_cleanlab


def test_planted_errors_are_those_that_are_said():
    rng = np.random.default_rng(0)
    Y = (rng.random((400, 5)) < 0.3).astype(int)
    noisy = plant(None, Y, "lost 0.2", 0)
    assert (Y[noisy != Y] == 1).all()
    assert (noisy != Y).sum() == round(0.2 * Y.sum())
    assert 0.1 < (plant(None, Y, "both", 0) != Y).mean() < 0.2
    assert np.array_equal(plant(None, Y, "none", 0), Y)
    assert (plant(rng.normal(size=(400, 2)), Y, "ambiguous 0.1", 0) != Y).sum() == 200


def test_a_ranking_without_fault_scores_one():
    wrong = np.zeros((1000, 2), dtype=bool)
    wrong[:250] = True
    scores = score_ranking(wrong.ravel(), wrong.ravel() + 0.0)
    assert set(scores) == {"auroc", "ap", "p50", "p100", "p500"}
    assert set(scores.values()) == {1.0}
    true = np.ones((1000, 2), dtype=int)
    assert score_rates(true, wrong, (np.array([0.25, 0.35]), np.zeros(2))) == pytest.approx(
        {"lost_error": 0.05, "false_error": 0.0}
    )
    counts = score_counts(wrong.ravel(), np.where(wrong, 0.95, 0.05).ravel())
    assert counts["errors"] == counts["wrong_5"] == counts["pairs_5"] == 500
    assert counts["expected"] == pytest.approx(counts["expected_0"] + counts["expected_5"])


def test_the_scores_of_pairs_are_those_that_cleanlab_ranks_its_issues_by():
    rng = np.random.default_rng(0)
    P = rng.beta(0.5, 0.5, (300, 3))
    Y = (rng.random(P.shape) < P).astype(int)
    sets = [np.flatnonzero(row).tolist() for row in Y]
    issues, labels, _ = by_label.find_multilabel_issues_per_class(
        sets, P, return_indices_ranked_by="self_confidence"
    )
    scores = rank_by_cleanlab(Y, P)
    for label, found in enumerate(issues):
        assert (np.diff(scores[found, label]) <= 0).all()
    assert len(labels) == 3


def test_rates_of_confident_learning_and_neighbours_on_what_is_plain():
    Y = np.repeat([[0], [1]], 50, axis=0)
    P = np.where(Y == 1, 0.9, 0.1)
    assert [rate[0] for rate in confident_rates(Y, P)] == [0.0, 0.0]
    Y[0, 0] = 1
    X = np.repeat([[0.0], [1.0]], 50, axis=0)
    assert disagree_neighbours(X, Y)[0, 0] == 1.0


def test_the_page_counts_who_is_behind_and_says_real_or_planted(tmp_path):
    rows = []
    for noise in ("real", "flip 0.1", "none"):
        for method in METHODS:
            row = {"dataset": "songs", "noise": noise, "method": method, "pairs": 100}
            if noise != "none":
                ap = 0.9 if method == "cleanlab" else 0.8
                row |= {"ap": ap, "p50": 1.0, "p100": 0.5, "p500": 0.1, "lost_error": 0.1, "false_error": 0.0}
            if method == "audit":
                row |= score_counts(np.arange(100) < 10, np.full(100, 0.21))
                row |= {"least": 1.0, "most": 30.0, "sure": 2, "low": 1.0, "high": 30.0}
            rows.append(row)
    issue = {"dataset": "songs", "row": 3, "label": "a|b", "given": 1, "suspicion": 0.91, "probability": 0.02}
    pd.DataFrame([issue]).to_csv(tmp_path / "strongest_songs.csv", index=False)
    page = tmp_path / "page.md"
    write_page(pd.DataFrame(rows), tmp_path, page, planned=4)
    text = page.read_text()
    assert "behind cleanlab's recipe: 1 (songs flip 0.1)" in text
    assert "3 of 4 settings" in text
    assert "| songs | planted: flip 0.1 | 0.800 |" in text
    assert "factor of two in 1 (songs real)" in text
    assert "| real | – | 0.21\u00a0→\u00a00.10 |" in text
    assert "| songs | 3 | a/b | 1 | 0.91 | 0.02 |" in text
    assert (tmp_path / "images" / "audits-calibration.svg").exists()

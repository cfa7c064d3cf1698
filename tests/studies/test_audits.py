"""The benchmark of audits: what is planted, how it is scored, and the page of its results."""

import numpy as np
import pandas as pd
import pytest
from cleanlab.multilabel_classification import filter as by_label

from studies.audits.__main__ import plant, score_ranking, score_rates
from studies.audits.page import METHODS, write_page
from studies.audits.rivals import confident_rates, disagree_neighbours, rank_by_cleanlab


def test_planted_errors_are_those_that_are_said():
    Y = (np.random.default_rng(0).random((400, 5)) < 0.3).astype(int)
    noisy, wrong = plant(Y, "lost .2", 0)
    assert np.array_equal(wrong, noisy != Y)
    assert (Y[wrong] == 1).all()
    assert wrong.sum() == round(0.2 * Y.sum())
    noisy, wrong = plant(Y, "both", 0)
    assert np.array_equal(wrong, noisy != Y)
    assert 0.1 < wrong.mean() < 0.2
    assert not plant(Y, "none", 0)[1].any()


def test_a_ranking_without_fault_scores_one():
    wrong = np.zeros((100, 2), dtype=bool)
    wrong[:10] = True
    assert score_ranking(wrong, wrong + 0.0) == {"auroc": 1.0, "ap": 1.0, "p1": 1.0, "p5": 1.0}
    true = np.ones((100, 2), dtype=int)
    assert score_rates(true, wrong, (np.array([0.1, 0.2]), np.zeros(2))) == pytest.approx(
        {"lost_error": 0.05, "false_error": 0.0}
    )


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


def test_the_page_counts_who_is_behind(tmp_path):
    rows = []
    for noise in ("flip .1", "none"):
        for method in METHODS:
            row = {"dataset": "songs", "noise": noise, "seed": 0, "method": method, "pairs": 100}
            if noise != "none":
                ap = 0.9 if method == "cleanlab" else 0.8
                row |= {"ap": ap, "auroc": 0.9, "p1": 1.0, "p5": 0.5, "lost_error": 0.1, "false_error": 0.0}
            if method == "audit":
                row |= {"sure": 4, "sure_right": 2, "expected": 20.0, "planted": 10}
            rows.append(row)
    issue = {
        "dataset": "songs",
        "row": 3,
        "label": "a|b",
        "given": 1,
        "suspicion": 0.91,
        "why": "2% likely by its features",
    }
    pd.DataFrame([issue]).to_csv(tmp_path / "strongest-songs.csv", index=False)
    page = tmp_path / "page.md"
    write_page(pd.DataFrame(rows), tmp_path, page, planned=3)
    text = page.read_text()
    assert "behind cleanlab's recipe in 1 (songs flip .1)" in text
    assert "this page has 2 of the 3 settings" in text
    assert "**0.900 (0.900)**" in text
    assert "more than a third in 1 (songs flip .1) of 1 settings" in text
    assert "| songs | 3 | a/b | 1 | 0.91 | 2% likely by its features |" in text

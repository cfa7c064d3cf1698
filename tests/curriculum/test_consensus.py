"""Consensus of annotators: rates recovered, agreement against an outside implementation, forms of input."""

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit, logit

from mlspl import SelfPacedForestClassifier
from mlspl.curriculum import AnnotatorDisplay, consensus
from mlspl.curriculum._dawid_skene import Votes, _sum_truth, shrink_rates
from mlspl.errors import UserError


def annotate(n=1500, L=4, A=5, per=3, seed=0):
    """Annotations (n, L, A) of `per` annotators a row, truth, rates, and the true log-odds."""
    rng = np.random.default_rng(seed)
    odds = logit(rng.uniform(0.1, 0.4, L)) + rng.normal(0, 1.5, (n, L))
    truth = rng.random((n, L)) < expit(odds)
    sensitivity, specificity = rng.uniform(0.55, 0.95, (A, L)), rng.uniform(0.8, 0.98, (A, L))
    chance = np.where(truth[:, :, None], sensitivity.T, 1 - specificity.T)
    table = (rng.random((n, L, A)) < chance).astype(float)
    for row in table:
        row[:, rng.permutation(A)[per:]] = np.nan
    return table, truth, sensitivity, specificity, odds


def test_rates_are_recovered_within_their_intervals():
    covered, gains = [], []
    for seed in range(4):
        table, truth, sensitivity, specificity, _ = annotate(seed=seed)
        found = consensus(None, table)
        for name, true in (("sensitivity", sensitivity), ("specificity", specificity)):
            rates = found.annotators_by_label
            covered.append((rates[f"{name}_low"] <= true.ravel()) & (true.ravel() <= rates[f"{name}_high"]))
        majority = np.nanmean(table, axis=2) > 0.5
        gains.append((majority != truth).mean() - (found.labels != truth).mean())
    assert np.mean(gains) > 0
    assert 0.88 <= np.mean(covered) <= 0.99  # 160 intervals of 95 %


def test_probabilities_are_calibrated():
    table, truth, *_ = annotate(n=8000, per=4)
    p = consensus(None, table).probabilities
    for low in (0.1, 0.3, 0.5, 0.7):
        part = (p >= low) & (p < low + 0.2)
        assert abs(truth[part].mean() - p[part].mean()) < 0.05


def test_a_model_counts_as_far_as_it_informs():
    table, truth, _, _, odds = annotate(per=2, seed=2)
    alone = (consensus(None, table).labels != truth).mean()

    def error(log_odds):
        return (consensus(None, table, probabilities=expit(log_odds)).labels != truth).mean()

    informed = error(odds)
    assert informed < 0.9 * alone
    assert abs(error(3 * odds) - informed) < 0.004  # overconfident: calibrated; clipped at 0.001
    noise = np.random.default_rng(0).normal(0, 3, odds.shape)
    assert abs(error(noise) - alone) < 0.004


def test_alpha_as_the_krippendorff_package():
    table, *_ = annotate(n=80)
    alpha = consensus(None, table).agreement["alpha"]
    for label in range(table.shape[1]):
        data = table[:, label].T
        assert alpha.iloc[label] == pytest.approx(krippendorff.alpha(data, level_of_measurement="nominal"))


def test_forms_of_input_agree():
    table, *_ = annotate(n=200, L=2, A=3, per=2)
    names, people = ["a", "b"], ["ann", "bob", "cid"]
    expected = consensus(None, table)
    frames = {who: pd.DataFrame(table[:, :, k], columns=names) for k, who in enumerate(people)}
    frames["bob"] = frames["bob"].dropna()[["b", "a"]].sample(frac=1, random_state=0)
    long = pd.concat({who: frame.dropna() for who, frame in frames.items()}, names=["annotator", "row"])
    long = long.reset_index().sort_values("row")
    sets = [[label for label in names if line[label] == 1] for line in long.to_dict("records")]
    cells = long[["row", "annotator"]].assign(labels=["|".join(labels) for labels in sets])
    for annotations in (list(np.moveaxis(table, 2, 0)), frames, long, cells):
        found = consensus(None, annotations)
        np.testing.assert_allclose(found.probabilities, expected.probabilities, atol=1e-10)
        np.testing.assert_array_equal(found.labels, expected.labels)
    assert list(found.annotators.index) == people
    assert list(found.labels.columns) == names
    # Rows by the index of X.
    X = pd.DataFrame(np.zeros((201, 1)), index=np.arange(201)[::-1])
    found = consensus(X, long, probabilities=np.full((201, 2), 0.5))
    assert list(found.labels.index) == list(X.index)
    assert found.labels.loc[200].isna().all()
    assert (found.weights.loc[200] == 0).all()


def test_models_learn_from_x_and_the_labels_can_be_fitted():
    table, truth, _, _, odds = annotate(n=300, L=3, A=3, per=1, seed=1)
    table[:40] = annotate(n=40, L=3, A=3, per=3, seed=1)[0]
    table[-1] = np.nan
    found = consensus(odds, table, random_state=0)
    assert set(found.models) == {"kernel", "forest", "linear"}
    assert np.isnan(found.labels[-1]).all()
    linear = consensus(sparse.csr_array(odds), table, random_state=0)
    assert set(linear.models) == {"linear"}
    model = SelfPacedForestClassifier(10, trees="joint", random_state=0)
    model.fit(odds, found.labels, label_weight=found.weights)
    assert (model.predict(odds) == truth).mean() > 0.75


def test_annotators_with_few_rows_are_shrunk():
    right, n = np.array([[90.0], [80.0], [0.0]]), np.array([[100.0], [100.0], [1.0]])
    few = shrink_rates(right, n)[2, 0]
    assert 0.7 < few < 0.85
    assert shrink_rates(100 * right, 100 * n)[0, 0] == pytest.approx(0.9, abs=0.005)


def test_review_asks_the_best_annotator_who_has_not_judged():
    table, *_ = annotate(A=4, per=2)
    found = consensus(None, table)
    review = found.review()
    assert review["gain"].is_monotonic_decreasing
    assert (review["gain"] > 0).all()
    rates, rates_of = found.annotators_by_label, ["sensitivity", "specificity"]
    for line in review.head(30).itertuples():
        row, label, p = line.row, int(line.label), line.probability
        gains = {}
        for who in np.flatnonzero(np.isnan(table[row, label])):
            se, sp = rates.loc[(str(who), line.label), rates_of]
            after = min(p * se, (1 - p) * (1 - sp)) + min(p * (1 - se), (1 - p) * sp)
            gains[str(who)] = min(p, 1 - p) - after
        assert line.ask == max(gains, key=gains.get)
        assert line.gain == pytest.approx(gains[line.ask])
    # Where all have judged, somebody new is asked, of mean quality.
    found = consensus(None, annotate(A=4, per=4)[0])
    review = found.review()
    assert len(review)
    assert review["ask"].isna().all()
    line = review.iloc[0]
    p, (se, sp) = line.probability, found.annotators_by_label.xs(line.label, level="label")[rates_of].mean()
    after = min(p * se, (1 - p) * (1 - sp)) + min(p * (1 - se), (1 - p) * sp)
    assert line.gain == pytest.approx(min(p, 1 - p) - after)


def test_counts_as_a_loop():
    table, _, _, _, odds = annotate(n=50)
    rows, who = np.nonzero(~np.isnan(table).all(axis=1))
    said = table[rows, :, who].astype(np.int8)
    q = expit(odds)
    right = np.zeros((table.shape[2], table.shape[1]))
    for i, j, a in np.ndindex(table.shape):
        right[a, j] += q[i, j] if table[i, j, a] == 1 else 0
    votes = Votes(rows, who, said, 50, table.shape[2])
    np.testing.assert_allclose(_sum_truth(rows, who, said, q, table.shape[2])[1], right)
    np.testing.assert_array_equal(votes.count()[0], (~np.isnan(table)).sum(axis=2))
    np.testing.assert_array_equal(votes.count()[1], np.nansum(table, axis=2))


def _long(**changes):
    return pd.DataFrame({"row": [0, 0, 1], "annotator": ["a", "b", "a"], "x": [1, 1, 0]} | changes)


@pytest.mark.parametrize(
    ("annotations", "X", "word"),
    [
        (_long(annotator=["a", None, "a"]), None, "annotator"),
        (_long().drop(columns="annotator"), None, "annotator"),
        (_long(annotator=["a", "a", "a"]), None, "twice"),
        (_long(row=[0, 7, 1]), np.zeros((3, 1)), "7"),
        (_long(x=[0, 0, 0]), None, "'x'"),
        (_long(row=[0, 1, 2]), None, "no two annotators"),
        (_long(x=[1, 2, 0]), None, "is 2"),
        (_long(), pd.DataFrame(np.zeros((2, 1)), index=[0, 0]), "duplicates"),
        (np.ones((3, 2)), None, "shape"),
        ([np.ones((3, 2)), np.ones((2, 2))], None, "different"),
        ({"a": pd.DataFrame({"x": [1]}), "b": pd.DataFrame({"y": [1]})}, None, "different"),
        ({}, None, "annotat"),
        (_long().head(0), None, "no rows"),
        (_long(), [["a"], ["b"]], "not a number"),
    ],
)
def test_bad_input_is_refused(annotations, X, word):
    with pytest.raises(UserError, match=word):
        consensus(X, annotations)


def test_an_annotator_who_shares_no_pair_is_named():
    table = annotate(n=60, A=3, per=3)[0]
    table[30:, :, :2], table[:30, :, 2] = np.nan, np.nan
    with pytest.warns(UserWarning, match="'2'"):
        found = consensus(None, table)
    assert found.annotators["shared"].tolist() == [30, 30, 0]
    widths = found.annotators["sensitivity_high"] - found.annotators["sensitivity_low"]
    assert widths.idxmax() == "2"


def test_bad_probabilities_are_refused():
    with pytest.raises(UserError, match="outside"):
        consensus(None, _long(), probabilities=np.full((2, 1), 2.0))


def test_display_of_quality_and_agreement():
    found = consensus(None, annotate(n=100, A=3)[0])
    display = AnnotatorDisplay(found).plot()
    places = {round(float(line.get_ydata()[0]) - 0.15): line.get_xdata() for line in display.ax_.lines[:1]}
    assert sorted(places[0]) == pytest.approx(sorted(found.annotators["sensitivity"]))
    assert len(display.ax_.get_yticklabels()) == 3
    display = AnnotatorDisplay(found, "agreement").plot()
    assert sorted(display.ax_.lines[0].get_xdata()) == pytest.approx(sorted(found.agreement["alpha"]))
    with pytest.raises(UserError, match="show"):
        AnnotatorDisplay(found, "all")


def test_annotations_that_do_not_fit_into_memory_are_refused(monkeypatch):
    names = [f"l{k}" for k in range(300)]
    lines = [(row, who, [names[row], names[row + 1]]) for row in range(200) for who in "ab"]
    table = pd.DataFrame(lines, columns=["row", "annotator", "labels"])
    monkeypatch.setenv("MLSPL_MEMORY", "1e6")
    with pytest.raises(UserError, match="memory"):
        consensus(None, table)
    monkeypatch.setenv("MLSPL_MEMORY", "1e9")
    assert consensus(None, table).labels.shape == (200, 201)
